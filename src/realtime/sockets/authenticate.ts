import type { CloseCode } from '../../../schema/frames.ts'
import { clientKeysOf } from '../../http/auth/client-keys.ts'
import type { Sessions } from '../../http/auth/sessions.ts'
import type { VerifyToken } from '../../http/auth/tokens.ts'
import { HttpError } from '../../http/errors/http-error.ts'
import { closeCodes } from './close-codes.ts'
import type { SocketSession } from './connection.ts'

/**
 * Checks a token and calls `onResult` in the same turn as the check: a revocation either comes before and is seen here,
 * or after and reaches the connection, which is registered by then. Rejects when the database is unreachable.
 */
export const authenticateWith =
  (readToken: VerifyToken, sessions: Pick<Sessions, 'validAfter' | 'load'>) =>
  async (text: string, onResult: (result: SocketSession | CloseCode) => void): Promise<void> => {
    const token = readToken(text)
    if (token instanceof HttpError) return onResult(token.status === 440 ? closeCodes.tokenExpired : closeCodes.token)
    const { caller, issuedAt, expiresAt } = token
    if (caller?.kind !== 'user') return onResult(closeCodes.forbidden)
    for (;;) {
      const validAfter = sessions.validAfter(caller.id)
      if (validAfter !== undefined) {
        const session = { userId: caller.id, issuedAt, expiresAt, clientKeys: clientKeysOf(text) }
        return onResult(issuedAt < validAfter ? closeCodes.token : session)
      }
      if ((await sessions.load(caller.id)) === null) return onResult(closeCodes.token)
    }
  }
