import type { IncomingMessage } from 'node:http'
import { currentResponse } from './current-response.ts'

/** The paths of the websocket. */
export const socketPaths: readonly string[] = ['/ws', '/v1/ws', '/api/v1/ws']

function isSocketPath(url = ''): boolean {
  return socketPaths.includes(url.replace(/[?#].*$/s, '').replace(/\/$/, ''))
}

/**
 * Whether an upgrade request becomes a websocket; all others are answered as ordinary requests. So is one that was sent
 * before the response to an earlier request ended: until then the connection cannot be taken over.
 */
export function isSocketUpgrade({
  method,
  url,
  headers,
  socket,
}: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'>): boolean {
  return (
    method === 'GET' &&
    isSocketPath(url) &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    currentResponse(socket) === undefined
  )
}
