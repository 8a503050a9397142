import type { Server } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'

const MAX_WAIT_MS = 1_000
/** Where the processor is busy with others, one turn can take longer than all of the time. */
const MIN_LOOKS = 50

/**
 * Resolves in a turn of the event loop that brought neither a connection nor a request, or after a second and some tens
 * of turns: those who stop listening then reset hardly any client.
 */
export async function untilQuiet(servers: readonly Server[]): Promise<void> {
  let events = 0
  const count = (): void => {
    events += 1
  }
  for (const server of servers) server.on('connection', count).on('request', count)
  const until = performance.now() + MAX_WAIT_MS
  for (let before = -1, looks = 0; before !== events && (looks < MIN_LOOKS || performance.now() < until); looks += 1) {
    before = events
    // A whole turn, with its reading of sockets, lies between two of these.
    await nextTurn()
    await nextTurn()
  }
  for (const server of servers) server.off('connection', count).off('request', count)
}
