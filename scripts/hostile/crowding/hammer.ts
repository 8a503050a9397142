import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serve } from '../../bench/ipc.ts'
import type { Answer } from '../answers.ts'
import { AnswerReader } from '../answers.ts'
import { closed, Line } from '../line.ts'
import { type Hammered, Job } from './job.ts'

// A process that plays a user who wants too much. Apart from who measures: what it costs must not look like latency.

async function work(job: Job): Promise<Hammered> {
  const counts: Hammered = {}
  const note = ({ status }: Answer): void => {
    counts[status] = (counts[status] ?? 0) + 1
  }
  const request = Buffer.from(job.request, 'latin1')
  if (job.kind === 'burst') {
    await sleep(job.afterSeconds * 1000)
    await Promise.all(Array.from({ length: job.count }, () => once1(job.port, request, note)))
  } else {
    const until = performance.now() + job.seconds * 1000
    await Promise.all([
      ...Array.from({ length: job.closed }, () => askOverAndOver(job.port, request, until, note)),
      ...Array.from({ length: job.pipelined }, () => pour(job.port, request, job.seconds, note)),
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
async function askOverAndOver(port: number, request: Buffer, until: number, note: (answer: Answer) => void) {
  const line = new Line(port)
  while (performance.now() < until) note(await line.ask(request))
  await line.close()
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
