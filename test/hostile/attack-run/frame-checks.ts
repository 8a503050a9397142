import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { Line } from '../../harness/http/http-connection.ts'
import { plain } from '../../harness/http/request.ts'
import { ADDRESSEE } from '../mutations/readers.ts'
import type { Siege } from './attack-run.ts'
import { faultInText, SECRET_CANARY } from './canaries.ts'
import { attackers, tokenOf } from './roles.ts'

const RETRY_MS = 200

/** Sockets of those who attack and of whom they ask, which hear of themselves and of the room: every frame is judged. */
export async function listen(siege: Siege): Promise<void> {
  const line = new Line(siege.port)
  let frames = 0
  for (const user of [...attackers, ADDRESSEE]) {
    await siege.ask(line, plain('GET', '/v1/rooms/R1/join', tokenOf('user', user) ?? ''), 'set up')
    keepListening(siege, user, (frame) => {
      frames += 1
      const fault = frame.includes(SECRET_CANARY) ? 'tells what was said in confidence' : faultInText(frame)
      if (fault !== null) siege.complain(`a frame ${fault}`, Buffer.from(frame), fault)
    })
  }
  await line.close()
  siege.stage.teardown(async () => siege.stage.say(`${frames} frames were judged`))
}

/** Comes back with a new token whenever it is cut off: operators under attack end sessions all the time. */
function keepListening(siege: Siege, user: number, heard: (frame: string) => void): void {
  let socket: WebSocket | undefined
  let ended = false
  const connect = (): void => {
    socket = new WebSocket(`ws://127.0.0.1:${siege.port}/ws`, {
      headers: { authorization: `Bearer ${tokenOf('user', user)}` },
      perMessageDeflate: false,
    })
    socket.on('open', () => socket?.send(JSON.stringify({ t: 'sub', ch: 'one-to-room:R1' })))
    socket.on('message', (data: Buffer) => heard(data.toString()))
    socket.on('error', () => {})
    socket.on('close', () => {
      if (!ended) void sleep(RETRY_MS).then(() => (ended ? undefined : connect()))
    })
  }
  connect()
  siege.stage.teardown(async () => {
    ended = true
    socket?.terminate()
  })
}
