import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { runAndExit } from '../run/run-and-exit.ts'
import { Servers } from '../run/servers.ts'
import { seed } from '../seed.ts'
import { askFor, compareAnswers, sampleAnswers } from './answers.ts'
import { seedReads } from './seed.ts'
import { readNames } from './workload.ts'

// Checks the implementations that the bench of reads compares, without measuring: a small database is seeded, and each
// read is answered alike by all. `DATABASE_URL` and `DATABASE_OWNER_URL` name an empty database, `DATA_DIR` a folder.

const Environment = Type.Object({
  DATABASE_URL: Type.String(),
  DATABASE_OWNER_URL: Type.String(),
  DATA_DIR: Type.String(),
})

const population = { users: 60, rooms: 3, historyUsers: 2 }

async function compare(cleanUp: AsyncDisposableStack): Promise<string> {
  const { DATABASE_URL, DATABASE_OWNER_URL, DATA_DIR } = Value.Parse(Environment, process.env)
  const database = { serviceUrl: DATABASE_URL, ownerUrl: DATABASE_OWNER_URL }
  await seed(database, population)
  await seedReads(database, population)

  const servers = new Servers(DATA_DIR, cleanUp, { ASSET_BASE_URL: 'http://assets.test' })
  const ours = await servers.ours(database)
  await compareAnswers(ours, await servers.naive(database), [1, population.historyUsers])
  const ANSWERS = join(DATA_DIR, 'answers.json')
  writeFileSync(ANSWERS, JSON.stringify(await sampleAnswers(ours)))
  const floor = await servers.floor({ ANSWERS })
  const lines: string[] = []
  for (const name of readNames) {
    const answer = await askFor(ours, name, 1)
    if ((await askFor(floor, name, 1)) !== answer) throw new Error(`${name} differs without a database`)
    lines.push(`${name}: ${answer}`)
  }
  return lines.join('\n')
}

await runAndExit(compare)
