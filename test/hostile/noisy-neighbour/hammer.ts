import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { closed, Line } from '../../harness/http/http-connection.ts'
import type { Answer } from '../../harness/http/response-reader.ts'
import { AnswerReader } from '../../harness/http/response-reader.ts'
import { serve } from '../../harness/process/child-process-rpc.ts'
import { type Hammered, Job } from './job.ts'

// A process that plays a user who wants too much. Apart from who measures: what it costs must not look like latency.

async function work(job: Job): Promise<Hammered> {
  const counts: Hammered = {}
  const note = ({ status }: Answer): void => {
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
    await Promise.all(Array.from({ length: job.count }, () => once1(job.port, request, note)))
  } else {
    const until = performance.now() + job.seconds * 1000
    const requests = job.requests.map((request) => Buffer.from(request, 'latin1'))
    const requestOf = (i: number): Buffer => requests[i % requests.length] ?? Buffer.alloc(0)
    await Promise.all([
      ...Array.from({ length: job.closed }, (_, i) =>
        askOverAndOver(new Line(job.port, job.from), requestOf(i), until, note),
      ),
      ...Array.from({ length: job.pipelined }, (_, i) => pour(job.port, requestOf(i), job.seconds, note)),
    ])
  }
  return counts
}

async function once1(port: number, request: Buffer, note: (answer: Answer) => void): Promise<void> {
  const line = new Line(port)
  note(await line.ask(request))
  await line.close()
}

/** The next request goes out when the last one is answered. */
async function askOverAndOver(line: Line, request: Buffer, until: number, note: (answer: Answer) => void) {
  while (performance.now() < until) note(await line.ask(request))
  await line.close()
}

/** One socket after the other, each until the service closes it: that is up to its limits. */
async function resume(job: Extract<Job, { kind: 'resumes' }>, until: number, counts: Hammered): Promise<void> {
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  while (performance.now() < until) {
    const socket = new WebSocket(`ws://127.0.0.1:${job.port}/ws`, {
      headers: { authorization: `Bearer ${job.token}` },
      perMessageDeflate: false,
    })
    let frames = 0
    const send = (frame: object): void => {
      if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame))
    }
    const timer = setInterval(() => {
      frames += 1
      send(frames % 2 === 1 ? { t: 'sub', ch: job.channel, since: '1' } : { t: 'unsub', ch: job.channel })
      if (performance.now() > until) socket.close()
    }, 1_000 / job.framesPerSecond)
    socket.on('message', (data: Buffer) => count(/"t":"(\w+)"/.exec(data.toString('latin1', 0, 60))?.[1] ?? 'frame'))
    socket.on('error', () => {})
    const [code] = await once(socket, 'close')
    count(`close ${code}`)
    clearInterval(timer)
    // Whoever is refused comes back, but not at once.
    await sleep(100)
  }
}

/** Requests without waiting for answers, as fast as the connection takes them. */
async function pour(port: number, request: Buffer, seconds: number, note: (answer: Answer) => void): Promise<void> {
  const socket = connect({ port, host: '127.0.0.1' })
  socket.on('error', () => {})
  const reader = new AnswerReader()
  socket.on('data', (chunk) => {
    for (const answer of reader.read(chunk, () => false)) note(answer)
  })
  const many = Buffer.concat(Array.from({ length: 100 }, () => request))
  const more = (): void => {
    while (socket.write(many)) continue
  }
  socket.on('drain', more)
  more()
  await sleep(seconds * 1000)
  socket.destroy()
  await closed(socket)
}

serve(Job, work)
