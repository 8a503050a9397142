import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpConnection, onceClosed } from '../../harness/http/http-connection.ts'
import { type HttpResponse, ResponseReader } from '../../harness/http/response.ts'
import { serve } from '../../harness/process/child-process-rpc.ts'
import { WebSocketClient } from '../../harness/websocket/websocket-client.ts'
import { Job, type ResponseCounts } from './job.ts'

// A process that plays a user who wants too much. Apart from who measures: what it costs must not look like latency.

async function work(job: Job): Promise<ResponseCounts> {
  const counts: ResponseCounts = {}
  const note = ({ status }: HttpResponse): void => {
    counts[status] = (counts[status] ?? 0) + 1
  }
  if (job.kind === 'resumes') {
    const { sockets, seconds } = job
    await Promise.all(Array.from({ length: sockets }, () => resume(job, performance.now() + seconds * 1000, counts)))
    return counts
  }
  if (job.kind === 'burst') {
    const request = Buffer.from(job.request, 'latin1')
    await sleep(job.afterSeconds * 1000)
    await Promise.all(Array.from({ length: job.count }, () => sendOnce(job.port, request, note)))
  } else {
    const until = performance.now() + job.seconds * 1000
    const requests = job.requests.map((request) => Buffer.from(request, 'latin1'))
    const requestOf = (i: number): Buffer => requests[i % requests.length] ?? Buffer.alloc(0)
    await Promise.all([
      ...Array.from({ length: job.closed }, (_, i) =>
        sendRepeatedly(new HttpConnection(job.port, job.from), requestOf(i), until, note),
      ),
      ...Array.from({ length: job.pipelined }, (_, i) => sendPipelined(job.port, requestOf(i), job.seconds, note)),
    ])
  }
  return counts
}

async function sendOnce(port: number, request: Buffer, note: (response: HttpResponse) => void): Promise<void> {
  const connection = new HttpConnection(port)
  note(await connection.send(request))
  await connection.close()
}

/** The next request goes out when the last one is answered. */
async function sendRepeatedly(
  connection: HttpConnection,
  request: Buffer,
  until: number,
  note: (response: HttpResponse) => void,
) {
  while (performance.now() < until) note(await connection.send(request))
  await connection.close()
}

/** One socket after the other, each until the service closes it: that is up to its limits. */
async function resume(job: Extract<Job, { kind: 'resumes' }>, until: number, counts: ResponseCounts): Promise<void> {
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  while (performance.now() < until) {
    const closed = Promise.withResolvers<number>()
    const client = new WebSocketClient(`http://127.0.0.1:${job.port}`, {
      token: job.token,
      onText: (text) => count(/"t":"(\w+)"/.exec(text.slice(0, 60))?.[1] ?? 'frame'),
      onClose: closed.resolve,
    })
    let frames = 0
    const timer = setInterval(() => {
      frames += 1
      const frame = frames % 2 === 1 ? { t: 'sub', ch: job.channel, since: '1' } : { t: 'unsub', ch: job.channel }
      if (client.isOpen) client.send(frame)
      if (performance.now() > until) client.ws.close()
    }, 1_000 / job.framesPerSecond)
    count(`close ${await closed.promise}`)
    clearInterval(timer)
    // Whoever is refused comes back, but not at once.
    await sleep(100)
  }
}

/** Requests without waiting for answers, as fast as the connection takes them. */
async function sendPipelined(
  port: number,
  request: Buffer,
  seconds: number,
  note: (response: HttpResponse) => void,
): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const reader = new ResponseReader()
  socket.on('data', (chunk) => {
    for (const response of reader.read(chunk)) note(response)
  })
  const many = Buffer.concat(Array.from({ length: 100 }, () => request))
  const more = (): void => {
    while (socket.write(many)) continue
  }
  socket.on('drain', more)
  more()
  await sleep(seconds * 1000)
  socket.destroy()
  await onceClosed(socket)
}

serve(Job, work)
