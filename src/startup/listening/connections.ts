import type { Server } from 'node:http'
import type { Duplex } from 'node:stream'
import { currentResponse } from '../../http/current-response.ts'

/** The open connections of HTTP servers, without those that became websockets. */
export class Connections {
  readonly #open = new Set<Duplex>()

  watch(server: Server): void {
    const open = this.#open
    // One function for all: websockets outlive their upgrade by hours, and a listener of each would take memory.
    function forget(this: Duplex): void {
      open.delete(this)
    }
    server.on('connection', (socket) => {
      open.add(socket)
      socket.on('close', forget)
    })
    server.on('upgrade', (_request, socket) => open.delete(socket))
  }

  /** Closes those on which no request is being handled, whatever part of one has arrived. */
  closeUnused(): void {
    for (const socket of this.#open) if (currentResponse(socket) === undefined) socket.destroy()
  }
}
