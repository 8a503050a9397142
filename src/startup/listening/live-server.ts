import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { handleClientError } from '../../http/errors/client-errors.ts'
import { errorBody } from '../../http/errors/http-error.ts'
import { IDLE_TIMEOUT_MS, refuseConnect, serverOptions } from '../../http/server-options.ts'
import { isSocketPath, isSocketUpgrade } from '../../http/socket-upgrade.ts'
import { socketMessages } from '../../realtime/messages.ts'

/** A server of websockets only, for a port of their own; the app handles their upgrades as on its own port. */
export function createLiveServer(app: FastifyInstance): Server {
  const options = { ...serverOptions.http, noDelay: true, shouldUpgradeCallback: isSocketUpgrade }
  const server = createServer(options, (request: IncomingMessage, response: ServerResponse) => {
    if (isSocketPath(request.url)) app.routing(request, response)
    else answerNotFound(response)
  })
  server.setTimeout(IDLE_TIMEOUT_MS)
  server.on('upgrade', (request, socket, head) => app.server.emit('upgrade', request, socket, head))
  server.on('clientError', handleClientError)
  server.on('connect', refuseConnect)
  server.on('checkExpectation', (request, response) => server.emit('request', request, response))
  return server
}

function answerNotFound(response: ServerResponse): void {
  const body = errorBody({ code: 'not_found', text: socketMessages.only_websockets }, randomUUID(), 'en')
  response.writeHead(404, { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' })
  response.end(body)
}
