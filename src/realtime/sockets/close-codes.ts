import type { CloseCode } from '../../../schema/frames.ts'

/**
 * Why a socket is closed, which tells its client what to do: 40xx does not come back, 41xx backs off and resumes, 42xx
 * comes back now, after a moment of chance.
 */
export const closeCodes = {
  /** The token is missing, bad or revoked. */
  token: 4001,
  forbidden: 4003,
  badFrames: 4004,
  /** The user has opened too many others since. */
  replaced: 4009,
  updateRequired: 4026,
  capacity: 4100,
  /** It did not take what was sent. */
  slow: 4101,
  maintenance: 4103,
  tooFast: 4108,
  drain: 4200,
  noPong: 4201,
  /** To come back with a new token. */
  tokenExpired: 4202,
} as const satisfies Record<string, CloseCode>
