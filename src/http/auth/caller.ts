export type StaffRole = 'operator' | 'finance'

/** Who sent a request, as its token says. */
export type Caller =
  | { readonly kind: 'user'; readonly id: number }
  /** `sub` is the plain form of the token's. */
  | { readonly kind: 'staff'; readonly role: StaffRole; readonly sub: string }

/** The caller's name on the ledger: `user:7` or `staff:ann`. */
export const actorOf = (caller: Caller): string =>
  caller.kind === 'user' ? `user:${caller.id}` : `staff:${caller.sub}`

/** The user who sent a request. Throws on a route that also admits staff: a bug. */
export function userOf(request: { readonly caller: Caller }): number {
  if (request.caller.kind !== 'user') throw new Error('a user route was called by staff')
  return request.caller.id
}
