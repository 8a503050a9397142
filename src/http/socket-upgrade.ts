import type { IncomingMessage } from 'node:http'

/** Where websockets are opened. */
export const socketPaths: readonly string[] = ['/ws', '/v1/ws', '/api/v1/ws']

/** Whether a request that would become something else becomes a websocket; all others are answered as usual. */
export function isSocketUpgrade({
  method,
  url = '',
  headers,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers'>): boolean {
  const path = url.replace(/[?#].*$/s, '').replace(/\/$/, '')
  return method === 'GET' && socketPaths.includes(path) && headers.upgrade?.toLowerCase() === 'websocket'
}
