import { type Bench, progress, roundRobin } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { type Turn, turnOf } from '../measure.ts'
import type { DatabaseUrls } from '../run/cluster.ts'
import { cursorsAtHead } from '../run/subscription-cursors.ts'
import { sendSome } from '../seed.ts'

export interface GrowthResults {
  readonly small: Turn[]
  readonly large: Turn[]
  /** Events of the ledgers before and after the run. */
  readonly lengths: { readonly small: Length; readonly large: Length }
}

interface Length {
  readonly before: number
  readonly after: number
}

const names = ['small', 'large'] as const

/** Compares the product on a freshly seeded ledger, of about 20,000 events, with the product on a long one. */
export async function measureGrowth(bench: Bench): Promise<GrowthResults> {
  const { options, cluster, servers: launcher, generator } = bench
  const databases = { small: await bench.seeded('small'), large: await bench.seeded('large') }
  progress(`growing a ledger to ${options.events} events`)
  for (const name of names) await sendSome(databases[name].serviceUrl, SAMPLE)
  await grow(bench, databases.large)
  const start = async (database: DatabaseUrls) => {
    const server = await launcher.ours(database)
    await generator.call({ kind: 'warm', port: server.port, mix: 'uniform' }, Measured)
    return server
  }
  const servers = { small: await start(databases.small), large: await start(databases.large) }
  const before = await lengths(bench)
  const turns: Record<(typeof names)[number], Turn[]> = { small: [], large: [] }
  await roundRobin(options.rounds, names, async (name, round) => {
    const { port } = servers[name]
    const job = { kind: 'closed', mix: 'uniform', connections: 64, port, seconds: options.seconds } as const
    const turn = await turnOf(servers[name], generator, cluster.postmaster, job)
    progress(`round ${round + 1}, ${name} ledger: ${Math.round(turn.perSecond)}/s`)
    turns[name].push(turn)
  })
  const after = await lengths(bench)
  const both = (name: (typeof names)[number]): Length => ({ before: before[name], after: after[name] })
  return { ...turns, lengths: { small: both('small'), large: both('large') } }
}

async function lengths({ cluster }: Bench): Promise<{ small: number; large: number }> {
  const length = async (database: string): Promise<number> =>
    Number((await cluster.ask('select position from ledger_head', database))[0]?.['position'])
  return { small: await length('small'), large: await length('large') }
}

/** Gifts that are copied to grow the ledger. */
const SAMPLE = 1_000

/**
 * Appends copies of gifts under new positions and moves the head. The copies keep the hashes of their originals, as
 * nothing verifies the chain here.
 */
async function grow({ cluster, options }: Bench, large: DatabaseUrls): Promise<void> {
  await cluster.asOwner(
    large,
    `create temp table sample as
       select row_number() over (order by position) as i, * from ledger_events where type = 'gift-sent';
     do $$
     declare
       last bigint := (select position from ledger_head);
     begin
       while last < ${options.events} loop
         insert into ledger_events
         select last + i, type, version, data, debit, credit, amount, actor, at, request_id, idempotency_key,
                reply_hash, hash
         from sample;
         last := last + ${SAMPLE};
       end loop;
     end $$;
     update ledger_head set (position, hash) =
       (select position, hash from ledger_events order by position desc limit 1);
     ${cursorsAtHead}`,
  )
  // Otherwise PostgreSQL would start these by itself during the measurement.
  await cluster.asOwner(large, 'vacuum (analyze) ledger_events')
  await cluster.asAdmin(['checkpoint'])
}
