import type { FastifyReply, FastifyRequest } from 'fastify'
import { isForPart } from '../session/session-check.ts'
import { cookieName, isSecure } from '../session/session-cookie.ts'

/** What a page says after an action, by the code of a cookie: no text from outside is ever shown. */
const doneMessages = {
  proposed: 'A proposal was made. Another member of staff has to approve it.',
  approved: 'Approved, and done.',
  rejected: 'Rejected. Nothing was moved.',
  saved: 'Saved. It is in force now.',
  removed: 'Removed.',
  'staff-sessions-ended': 'The sessions were ended.',
  'withdrawal-approved': 'The request was approved.',
  'withdrawal-rejected': 'The request was rejected, and its dollars are back in the wallet.',
  'withdrawal-transferred': 'The request was marked as transferred.',
  credited: 'The balance was credited.',
  debited: 'The balance was debited.',
  'cards-granted': 'The cards are in the wallet.',
  'bag-filled': 'The gifts are in the bag.',
  'user-changed': 'The user was changed.',
  'sessions-ended': 'All sessions of the user were ended.',
  stopped: 'Stopped.',
  'stop-asked': 'It ends within about a second, if it had not ended before.',
  'checkpoint-made': 'A checkpoint was made. Keep its text where nobody who runs the database can write.',
  acknowledged: 'Acknowledged. The finding stops no closing any more.',
  'month-closed': 'The month is closed. The next one begins from it.',
} as const

export type DoneCode = keyof typeof doneMessages

/** The message of a code; null for an unknown one. */
const doneMessage = (code: unknown): string | null =>
  typeof code === 'string' && Object.hasOwn(doneMessages, code) ? (doneMessages[code as DoneCode] ?? null) : null

const productionSymbol = Symbol('production')

declare module 'fastify' {
  interface FastifyInstance {
    [productionSymbol]: boolean
  }
}

/** Longer than it takes to be led to a page. */
const MAX_SECONDS = 30

/** Lets the routes of this scope say what was done. */
export const decorateDone = (
  scope: { decorate(name: symbol, value: boolean): unknown },
  { production }: { readonly production: boolean },
): void => void scope.decorate(productionSymbol, production)

const cookieOf = (request: FastifyRequest) => {
  const secure = isSecure(request, request.server[productionSymbol])
  return {
    name: cookieName('console-done', secure),
    // The path that browsers ask of such a name.
    options: { path: '/', httpOnly: true, sameSite: 'lax', secure } as const,
  }
}

/** Leads to the page that shows what was done, and says so once: in an address it would be said to everyone who has the link. */
export function leadToDone(
  request: FastifyRequest,
  reply: FastifyReply,
  address: string,
  done: DoneCode,
): FastifyReply {
  const { name, options } = cookieOf(request)
  const value = `${done} ${pathOf(address)}`
  return reply.setCookie(name, value, { ...options, signed: true, maxAge: MAX_SECONDS }).redirect(address, 303)
}

/** What was just done, for the page that was led to; null for nothing, and for every other page. */
export function takeDone(request: FastifyRequest, reply: FastifyReply): string | null {
  if (request.method !== 'GET' || isForPart(request)) return null
  const { name, options } = cookieOf(request)
  const signed = request.cookies[name]
  if (signed === undefined) return null
  const { valid, value } = request.unsignCookie(signed)
  const [code, path] = valid ? (value ?? '').split(' ') : []
  if (path !== pathOf(request.originalUrl)) return null
  reply.clearCookie(name, options)
  return doneMessage(code)
}

const pathOf = (address: string): string => address.split('?', 1)[0] ?? ''
