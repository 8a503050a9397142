import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, progress } from '../bench.ts'
import { Measured } from '../load/job.ts'
import { describeRun } from '../run/machine.ts'
import { type Share, sharesOf } from './cpu-profile.ts'

const AREAS = 20
const FUNCTIONS = 40
const STATEMENTS = 20
const DATABASE = 'profiled'

/**
 * Profiles the functions of the product's process and the statements of its database, with uniform gifts over 64
 * connections, or over one with `--only lone`.
 */
export async function profile(bench: Bench): Promise<string> {
  const { cluster, servers, generator, options } = bench
  const folder = join(cluster.folder, 'profiles')
  mkdirSync(folder)
  const server = await servers.ours(await bench.seeded(DATABASE), ['--cpu-prof', `--cpu-prof-dir=${folder}`])
  const { port } = server
  const connections = options.parts.every((part) => part === 'lone') ? 1 : 64
  await generator.call({ kind: 'warm', port, mix: 'uniform' }, Measured)
  await cluster.asAdmin(['create extension pg_stat_statements', 'select pg_stat_statements_reset()'])
  progress('measuring')
  const job = { kind: 'closed', port, mix: 'uniform', connections, seconds: options.seconds }
  const from = monotonicMicros()
  const measured = await generator.call(job, Measured)
  const until = monotonicMicros()
  const statements = await cluster.ask(statementTimes)
  await server.stop()
  const [file] = readdirSync(folder)
  if (file === undefined) throw new Error('there is no profile')
  const { idlePercent, areas, functions } = sharesOf(readFileSync(join(folder, file), 'utf8'), from, until)
  return [
    `# Profile of the product: uniform gifts, connections: ${connections}`,
    '',
    ...(await describeRun(cluster)).map((line) => `- ${line}`),
    `- ${Math.round(measured.perSecond)} requests/s while profiled`,
    `- Idle: ${idlePercent.toFixed(1)}% of the time; shares are of the rest`,
    '',
    '| share | folder or package, with the work of Node for it |',
    '| ---: | --- |',
    ...areas.slice(0, AREAS).map(line),
    '',
    '| share | function, without what it calls |',
    '| ---: | --- |',
    ...functions.slice(0, FUNCTIONS).map(line),
    '',
    '| of all statements | calls | mean µs | rows a call | statement |',
    '| ---: | ---: | ---: | ---: | --- |',
    ...statements.map((s) => `| ${s['percent']}% | ${s['calls']} | ${s['mean']} | ${s['rows']} | ${s['statement']} |`),
  ].join('\n')
}

const line = ({ name, percent }: Share): string => `| ${percent.toFixed(1)}% | ${name} |`

/** The clock of V8's profiles. */
export const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1000n)

const statementTimes = `
  select round((100 * total_exec_time / sum(total_exec_time) over ())::numeric, 1) as percent, calls,
         round((1000 * mean_exec_time)::numeric, 1) as mean, round(rows::numeric / calls, 1) as rows,
         left(regexp_replace(query, '\\s+', ' ', 'g'), 90) as statement
  from pg_stat_statements
  where dbid = (select oid from pg_database where datname = '${DATABASE}')
  order by total_exec_time desc
  limit ${STATEMENTS}`
