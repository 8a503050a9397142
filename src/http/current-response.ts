import { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'

/**
 * The response that is being written to a connection; undefined when every request on it is answered. Node keeps it in
 * `_httpMessage`, and the response to the next pipelined request takes its place.
 */
export function currentResponse(socket: Duplex): ServerResponse | undefined {
  const response: unknown = Reflect.get(socket, '_httpMessage')
  return response instanceof ServerResponse ? response : undefined
}
