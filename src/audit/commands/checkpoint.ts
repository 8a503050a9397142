import type { Checkpoint } from '../../../schema/finance.ts'
import { connect } from '../../db/connect.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { TextRow } from '../../ledger/storage/row-table.ts'
import { HEAD_IS_LAST, HEAD_IS_NOT_LAST } from '../checkpoint/checkpoint.ts'
import { findSigner, STORED_FINGERPRINT_SQL } from '../checkpoint/checkpoint-key.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand } from './command.ts'

export const checkpointCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('checkpoint')
    .description('prints a signed statement of where the ledger ends, to be kept elsewhere')
    .option(...JSON_FLAG)
    .action(running(run))

async function run({ url, env, terminal }: CommandContext, { json }: { readonly json?: true }): Promise<number> {
  const checkpoint = await takeCheckpoint(url, env)
  terminal.line(JSON.stringify(checkpoint, null, json ? 0 : 2))
  return 0
}

async function takeCheckpoint(url: string, env: CommandContext['env']): Promise<Checkpoint> {
  const client = await connect(url, 'audit checkpoint')
  try {
    const kept = await client.query<TextRow>(STORED_FINGERPRINT_SQL)
    const signer = findSigner(env, kept.rows[0]?.['fingerprint'] ?? undefined)
    if (signer === null)
      throw new Error('There is no key to sign with: set CHECKPOINT_KEY, or DATA_DIR where the service generated one.')
    const { rows } = await client.query<TextRow>(
      `select h.position::text, h.hash, (extract(epoch from clock_timestamp()) * 1000000)::bigint::text as now
       from ledger_head h where ${HEAD_IS_LAST}`,
    )
    const [head] = rows
    if (head === undefined) throw new Error(HEAD_IS_NOT_LAST)
    return signer.sign({
      position: Number(head['position']),
      hash: String(head['hash']),
      at: isoMicros(Number(head['now'])),
    })
  } finally {
    await client.end()
  }
}
