import { serve } from '../../../test/harness/process/child-process-rpc.ts'
import { Job, type Measured } from './job.ts'
import { closedLoop, openLoop, sendAll } from './loops.ts'
import { prepareRequests, signTokens } from './requests.ts'

// The process of the load generator. `JWT_SECRET` signs its tokens; `KEYED=1` adds an idempotency key to each request.

const tokens = signTokens(process.env['JWT_SECRET'] ?? '')
const keyed = process.env['KEYED'] === '1'
const prepared = {
  uniform: prepareRequests('uniform', tokens, keyed),
  hot: prepareRequests('hot', tokens, keyed),
}

const PROBE = Buffer.from('GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')

async function work(job: Job): Promise<Measured> {
  if (job.kind === 'probe') return openLoop(job.port, job.perSecond, job.seconds, () => PROBE)
  const requests = prepared[job.mix]
  switch (job.kind) {
    case 'warm':
      await sendAll(job.port, requests.senders, (i) => requests.of(i))
      return { answered: requests.senders, perSecond: 0, p50: 0, p99: 0, max: 0 }
    case 'closed':
      return closedLoop(job.port, job.connections, job.seconds, () => requests.any())
    case 'open':
      return openLoop(job.port, job.perSecond, job.seconds, () => requests.any())
  }
}

serve(Job, work)
