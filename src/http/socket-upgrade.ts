import type { IncomingMessage } from 'node:http'

/** The paths of the websocket. */
export const socketPaths: readonly string[] = ['/ws', '/v1/ws', '/api/v1/ws']

/** Whether a request's address is one of them. */
export function isSocketPath(url = ''): boolean {
  return socketPaths.includes(url.replace(/[?#].*$/s, '').replace(/\/$/, ''))
}

/** Whether an upgrade request becomes a websocket; all others are answered as ordinary requests. */
export function isSocketUpgrade({
  method,
  url,
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  return method === 'GET' && isSocketPath(url) && headers.upgrade?.toLowerCase() === 'websocket'
}
