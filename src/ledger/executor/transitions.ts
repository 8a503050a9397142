/** For each state of a long-lived object, the states that may follow it. */
export type Transitions<State extends string> = Readonly<Record<State, readonly State[]>>

/** Throws on a transition that the table does not have: a bug of the program, not a condition to handle. */
export function assertTransition<State extends string>(transitions: Transitions<State>, from: State, to: State): void {
  if (!transitions[from].includes(to)) throw new Error(`illegal transition from ${from} to ${to}`)
}
