import { findSigner } from '../checkpoint.ts'
import { type ExportReport, verifyExport } from '../closings/verify-export.ts'
import { type CommandContext, JSON_FLAG, type RegisterCommand, withQueryContext } from './command.ts'

interface Flags {
  readonly publicKey?: string
  readonly json?: true
}

export const verifyExportCommand: RegisterCommand = (audit, running) =>
  void audit
    .command('verify-export')
    .description("compares the files of a month's export with their manifest, and both with the ledger")
    .argument('<file>', 'manifest.json, or one file next to its manifest')
    .option('--public-key <key>', 'key of checkpoints, PEM or base64 (default: of CHECKPOINT_KEY or DATA_DIR)')
    .option(...JSON_FLAG)
    .action((file: string, flags: Flags) => running<Flags>((context, given) => run(context, file, given))(flags))

async function run(context: CommandContext, file: string, { publicKey, json }: Flags): Promise<number> {
  const key = publicKey ?? findSigner(context.env, undefined)?.publicKey
  if (key === undefined) throw new Error('There is no key to check the manifest with: give --public-key.')
  const { terminal } = context
  const report = await withQueryContext(context, (db, queryContext) => verifyExport(db, file, key, queryContext))
  if (json) terminal.line(JSON.stringify(report))
  else for (const line of formatReport(report)) terminal.line(line)
  return report.findings.length
}

const formatReport = ({ manifest, files, findings }: ExportReport): string[] => [
  ...findings,
  `${findings.length === 0 ? 'clean' : `findings: ${findings.length}`}: ${files.length} files of ${manifest.month}, ` +
    `positions ${manifest.from} to ${manifest.to}`,
]
