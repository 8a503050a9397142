import type { CloseCode } from '../../../schema/frames.ts'
import { tokenKey } from '../../http/auth/gate.ts'
import type { Sessions } from '../../http/auth/sessions.ts'
import type { ReadToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/errors.ts'
import { closeCodes } from './close-codes.ts'
import type { SocketSession } from './connection.ts'

/**
 * Finds who holds a token. `admitted` is called in the same go in which that was so: a revocation comes either before
 * and is seen here, or after and is told to those who are in. Rejects when the database is away.
 */
export const authenticateWith =
  (readToken: ReadToken, sessions: Pick<Sessions, 'over' | 'load'>) =>
  async (text: string, onResult: (found: SocketSession | CloseCode) => void): Promise<void> => {
    const token = readToken(text)
    if (token instanceof HttpError) return onResult(token.status === 440 ? closeCodes.tokenExpired : closeCodes.token)
    const { caller, issuedAt, expiresAt } = token
    if (caller?.kind !== 'user') return onResult(closeCodes.forbidden)
    for (;;) {
      const over = sessions.over(caller.id)
      if (over !== undefined) {
        const holder = { userId: caller.id, issuedAt, expiresAt, tokenKey: tokenKey(text) }
        return onResult(issuedAt < over ? closeCodes.token : holder)
      }
      if ((await sessions.load(caller.id)) === null) return onResult(closeCodes.token)
    }
  }
