import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection } from '../../harness/http/http-connection.ts'
import { jsonRequest } from '../../harness/http/request.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { ADDRESSEE } from '../mutations/readers.ts'
import type { AttackRun } from './attack-run.ts'
import { faultInText, SECRET_CANARY } from './canaries.ts'
import { attackers, tokenOf } from './roles.ts'

const RETRY_MS = 200

/** Sockets of those who attack and of whom they ask, which hear of themselves and of the room: every frame is judged. */
export async function listen(attackRun: AttackRun): Promise<void> {
  const connection = new HttpConnection(attackRun.port)
  let frames = 0
  for (const user of [...attackers, ADDRESSEE]) {
    await attackRun.send(connection, jsonRequest('GET', '/v1/rooms/R1/join', tokenOf('user', user) ?? ''), 'set up')
    keepListening(attackRun, user, (frame) => {
      frames += 1
      const fault = frame.includes(SECRET_CANARY) ? 'contains confidential text' : faultInText(frame)
      if (fault !== null) attackRun.complain(`a frame ${fault}`, Buffer.from(frame), fault)
    })
  }
  await connection.close()
  attackRun.context.teardown(async () => attackRun.context.progress(`${frames} frames were judged`))
}

/** Reconnects with a new token whenever it is cut off: operators under attack revoke sessions all the time. */
function keepListening(attackRun: AttackRun, user: number, onText: (frame: string) => void): void {
  let client: WebSocketClient | undefined
  let stopped = false
  const connect = (): void => {
    client = new WebSocketClient(`http://127.0.0.1:${attackRun.port}`, {
      token: tokenOf('user', user) ?? '',
      onOpen: () => client?.send({ t: 'sub', ch: 'one-to-room:R1' }),
      onText,
      onClose: () => {
        if (!stopped) void sleep(RETRY_MS).then(() => (stopped ? undefined : connect()))
      },
    })
  }
  connect()
  attackRun.context.teardown(async () => {
    stopped = true
    client?.terminate()
  })
}
