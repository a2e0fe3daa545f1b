/**
 * A caller's login for the time in which statements of that caller are at work. Connections outlive
 * the sessions whose logins opened them; a credential must not.
 */
export class LentLogin<Login> {
  #login: Login | undefined;
  #borrowers = 0;

  /** Whoever opens a connection now opens it with this; undefined while nobody is at work. */
  get current(): Login | undefined {
    return this.#login;
  }

  /** Lends until the answer is disposed. All who lend to one scope have equal logins: its key says so. */
  lend(login: Login): Disposable {
    this.#borrowers += 1;
    this.#login = login;
    let lent = true;
    return {
      [Symbol.dispose]: () => {
        if (!lent) return;
        lent = false;
        this.#borrowers -= 1;
        if (this.#borrowers === 0) this.#login = undefined;
      },
    };
  }
}
