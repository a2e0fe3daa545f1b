/**
 * Holds a caller's login only while statements of that caller run. Connections outlive the sessions whose
 * logins opened them; a credential must not.
 */
export class LentLogin<Login> {
  #login: Login | undefined;
  #borrowers = 0;

  /** The login for a new connection; undefined while no statement runs. */
  get current(): Login | undefined {
    return this.#login;
  }

  /**
   * Lends the login until the result is disposed. All logins lent to one scope are equal, because its key is
   * made of them.
   */
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
