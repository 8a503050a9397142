import type { StaffRole } from '../../http/auth/caller.ts'
import type { StaffSessions } from '../../http/auth/sessions.ts'
import { sessionExpired, unauthenticated, type VerifyToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { httpMessages } from '../../http/messages.ts'

/** Who looks at a page, as the token of the session says. */
export interface StaffSession {
  readonly token: string
  readonly sub: string
  /** The token's `name`, or its `sub`. */
  readonly name: string
  readonly role: StaffRole
  /** Seconds since 1970. */
  readonly expiresAt: number
}

export type FindStaffSession = (token: string) => Promise<StaffSession | HttpError>

/** Checks a token as /admin/v1 does: its signature, its role, its expiry, and whether its sessions were ended. */
export const staffSessionFinder =
  (verify: VerifyToken, sessions: Pick<StaffSessions, 'validAfter' | 'load'>): FindStaffSession =>
  async (text) => {
    const token = verify(text)
    if (token instanceof HttpError) return token
    const { caller, issuedAt, expiresAt, name } = token
    if (caller?.kind !== 'staff') return new HttpError(403, 'forbidden', httpMessages.forbidden)
    const { sub, role } = caller
    const validAfter = sessions.validAfter(sub) ?? (await sessions.load(sub))
    if (validAfter === null) return unauthenticated()
    return issuedAt < validAfter ? sessionExpired() : { token: text, sub, name: name ?? sub, role, expiresAt }
  }
