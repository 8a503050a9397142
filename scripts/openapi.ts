import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import { build } from '../src/app.ts'
import { checkpointSigner } from '../src/audit/checkpoint.ts'
import { Jobs } from '../src/audit/jobs/jobs.ts'
import { createFinanceSlice } from '../src/audit/routes/routes.ts'
import type { Tables } from '../src/db/tables.ts'
import { evolve, tables } from '../src/domain.ts'
import { Metrics } from '../src/http/observability/metrics.ts'
import { Executor } from '../src/ledger/executor/executor.ts'
import { slices } from '../src/slices.ts'
import { appParts } from '../test/harness/app/app-parts.ts'

/** The OpenAPI document that /docs/json serves. No query is run, so it needs no database. */
export async function openapiDocument(): Promise<object> {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (database) => new PostgresIntrospector(database),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  const executor = new Executor({ url: '', tables, evolve, observer: new Metrics().observer(() => {}) })
  const parts = appParts({ executor, db, url: '' }, { slices, docs: false })
  const jobs = new Jobs('', console)
  const finance = createFinanceSlice({
    url: '',
    checkpoints: checkpointSigner(''),
    piiKey: '',
    jobs,
    closingsFolder: '',
    sealsFolder: '',
  })
  const app = await build({ ...parts, slices: [...slices, finance] })
  await app.ready()
  const document = app.swagger()
  await app.close()
  await jobs.close()
  return document
}

if (import.meta.main) console.log(JSON.stringify(await openapiDocument(), null, 2))
