/** A connection that is given back when it is disposed, once. A class: see core/tool/onDispose.ts; every statement takes one. */
export class Held<Member> implements Disposable {
  readonly member: Member;
  #release: ((member: Member) => void) | undefined;

  constructor(member: Member, release: (member: Member) => void) {
    this.member = member;
    this.#release = release;
  }

  [Symbol.dispose](): void {
    this.leave();
  }

  /** The same by a name: a key that is a symbol is searched for each time. */
  leave(): void {
    const release = this.#release;
    this.#release = undefined;
    release?.(this.member);
  }
}
