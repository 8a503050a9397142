import type { CloseCode } from '../../../schema/frames.ts'
import { tokenKey } from '../../http/auth/gate.ts'
import type { Sessions } from '../../http/auth/sessions.ts'
import type { ReadToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/errors.ts'
import { closeCodes } from './close-codes.ts'
import type { Holder } from './connection.ts'

/**
 * Finds who holds a token. `admitted` is called in the same go in which that was so: a revocation comes either before
 * and is seen here, or after and is told to those who are in. Rejects when the database is away.
 */
export const admitWith =
  (read: ReadToken, sessions: Pick<Sessions, 'over' | 'load'>) =>
  async (text: string, admitted: (found: Holder | CloseCode) => void): Promise<void> => {
    const token = read(text)
    if (token instanceof HttpError) return admitted(token.status === 440 ? closeCodes.tokenExpired : closeCodes.token)
    const { caller, issuedAt, expiresAt } = token
    if (caller?.kind !== 'user') return admitted(closeCodes.forbidden)
    for (;;) {
      const over = sessions.over(caller.id)
      if (over !== undefined) {
        const holder = { userId: caller.id, issuedAt, expiresAt, tokenKey: tokenKey(text) }
        return admitted(issuedAt < over ? closeCodes.token : holder)
      }
      if ((await sessions.load(caller.id)) === null) return admitted(closeCodes.token)
    }
  }
