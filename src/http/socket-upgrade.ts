import type { IncomingMessage } from 'node:http'

/** The paths of the websocket. */
export const socketPaths: readonly string[] = ['/ws', '/v1/ws', '/api/v1/ws']

/** Whether an upgrade request becomes a websocket; all others are answered as ordinary requests. */
export function isSocketUpgrade({
  method,
  url = '',
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return method === 'GET' && socketPaths.includes(path) && headers.upgrade?.toLowerCase() === 'websocket'
}
