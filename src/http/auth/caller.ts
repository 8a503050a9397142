import { isVisible } from '../../../schema/common.ts'
import { foldCase } from '../../language/names.ts'

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

/**
 * One line without what could reorder the text around it, or would be seen by nobody: two names that look alike would let
 * one person approve what is his own. `.` and `..` would mean a folder in a path.
 */
const NAME = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u202a-\u202e]{1,100}$/u

/** As many UTF-16 units as a name may have: normalising a longer text of marks alone would take long. */
const MAX_UNITS = 300

/**
 * The one form of the `sub` of a member of staff, by which it is recorded and compared, as login services may write `ann`
 * and `Ann `: in NFC, with case folded and without outer blanks. Null for a `sub` that can name nobody.
 */
export function plainStaffName(sub: string): string | null {
  if (sub.length > MAX_UNITS) return null
  const name = foldCase(sub.normalize('NFC')).normalize('NFC').trim()
  return NAME.test(name) && isVisible(name) ? name : null
}

/** An actor as the ledger has it: `staff:ann` of `staff:Ann`, and any other as it is. */
export function plainActor(actor: string): string {
  const [, sub] = /^\s*staff:(.*)$/isu.exec(actor) ?? []
  const name = sub === undefined ? null : plainStaffName(sub)
  return name === null ? actor : `staff:${name}`
}
