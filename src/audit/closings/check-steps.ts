import { isVisible } from '../../../schema/common.ts'
import { VERIFICATION_RUNNING } from '../../features/closings/closing.ts'
import { currencyOf, isSystem } from '../../ledger/rules/account.ts'
import { isoMicros } from '../../ledger/rules/time.ts'
import type { LedgerEntry } from '../../ledger/storage/event-hash.ts'
import { csvText, formatAmount, formatDecimal } from '../format.ts'
import { readEntries } from '../reports/write-export.ts'
import { sealText } from '../seals/open-seal.ts'
import { checkDrawsUpTo } from '../verify/draws/check-draws.ts'
import { drawObservations } from '../verify/draws/draw-counts.ts'
import { MAX_FINDINGS, subjectOf } from '../verify/finding.ts'
import { formatVerification, runVerification } from '../verify/verifications.ts'
import { listAccounts } from './balance-steps.ts'
import { HashedFile, writeHashed } from './files.ts'
import { ClosingRefused } from './month-books.ts'
import { MAX_ROWS, type StepOptions, type StepOutcome, type StepWork, tableOf, VERIFICATION_FILE } from './step.ts'
import { StepFindings } from './step-rows.ts'

/** Events of staff without a movement that nevertheless give something. */
const GRANTS: readonly string[] = ['bag-items-added', 'card-granted']

const FILE_COLUMNS = 'position,at,type,actor,approved_by,about,currency,amount,reason,explained'

/** The length of a reason in the result, in code points. */
const MAX_SHOWN_LENGTH = 100

/** Whether an act says why: `yes`, `no`, or `not required` of one whose kind has no reason. */
type Explained = 'yes' | 'no' | 'not required'

/** What moved, from the view of the one whom it concerns. */
interface Move {
  readonly about: string
  readonly currency: string
  /** Whole units (cents of a dollar); negative where value was taken. Null of a grant. */
  readonly amount: bigint | null
}

/** What the staff moved or granted, each with its reason; one without, and an overdrawn account, have to be explained. */
export const exceptionsStep: StepWork = async (task, db, context) => {
  const { url, first, last, folder } = task
  const file = await HashedFile.create(folder, 'exceptions.csv.gz')
  await file.write(`${FILE_COLUMNS}\n`)
  const findings = await StepFindings.of('exceptions', db)
  const counts: Record<Explained, number> = { yes: 0, no: 0, 'not required': 0 }
  const rows: Record<Explained, string[][]> = { yes: [], no: [], 'not required': [] }
  let found = 0
  for await (const page of readEntries(url, { first, last }, context, `e.actor like 'staff:%'`)) {
    let lines = ''
    for (const entry of page) {
      if (!movesOrGrants(entry)) continue
      const fields = fieldsOf(entry)
      const { reason, explained } = reasonOf(entry.type, fields)
      counts[explained] += 1
      const { position, type, actor } = entry
      if (explained === 'no') findings.add('unexplained', String(position), `${type} by ${actor} without a reason`)
      const at = isoMicros(entry.at)
      const approver = approverIn(fields)
      for (const { about, currency, amount } of movesOf(entry, fields)) {
        const decimal = amount === null ? '' : formatDecimal(currency, amount)
        lines += `${position},${at},${type},${csvText(actor)},${csvText(approver)},${about},${currency},${decimal},${csvText(reason)},${explained}\n`
        found += 1
        if (rows[explained].length < MAX_ROWS) {
          const shown = amount === null ? '' : formatAmount(currency, amount)
          rows[explained].push([String(position), at, type, actor, approver, about, currency, shown, shorten(reason)])
        }
      }
    }
    await file.write(lines)
  }
  const overdrawn: string[][] = []
  for (const { account, closing } of (await listAccounts(task, db, context)).overdrawn) {
    const currency = currencyOf(account)
    findings.add('overdrawn', account, `the account stands at ${formatAmount(currency, closing)}`)
    overdrawn.push(['', '', 'overdrawn', '', '', account, currency, formatAmount(currency, closing), ''])
  }
  const table = tableOf(
    counts.no + overdrawn.length === 0
      ? `${counts.yes} acts of staff with their reason, ${counts['not required']} of a kind that has none; no overdrawn account.`
      : `${counts.no} acts of staff without a reason, ${overdrawn.length} overdrawn accounts.`,
    ['position', 'at', 'what', 'by', 'approved_by', 'about', 'currency', 'amount', 'reason'],
    [...overdrawn, ...rows.no, ...rows['not required'], ...rows.yes],
  )
  return {
    ...findings.outcome,
    result: { ...table, more: Math.max(0, found + overdrawn.length - table.rows.length) },
    files: [await file.close()],
  }
}

const movesOrGrants = ({ movements, type }: LedgerEntry): boolean => movements.length > 0 || GRANTS.includes(type)

type Fields = Readonly<Record<string, unknown>>

function fieldsOf({ data }: LedgerEntry): Fields {
  const parsed: unknown = JSON.parse(data)
  return typeof parsed === 'object' && parsed !== null ? { ...parsed } : {}
}

/** The file has the whole reason. */
const shorten = (reason: string): string => {
  const letters = Array.from(reason)
  return letters.length <= MAX_SHOWN_LENGTH ? reason : `${letters.slice(0, MAX_SHOWN_LENGTH).join('')}…`
}

/** Why something was done. The note of a decision is in the vault, where it can be erased, so that no file has it. */
function reasonOf(type: string, fields: Fields): { readonly reason: string; readonly explained: Explained } {
  const { reason, period, to, note } = fields
  if (reason !== undefined) {
    const text = typeof reason === 'string' ? reason : ''
    return { reason: text, explained: isVisible(text) ? 'yes' : 'no' }
  }
  if (type === 'withdrawal-status-changed') {
    return { reason: `${String(to)}, ${note === null ? 'without a note' : 'with a note'}`, explained: 'not required' }
  }
  return { reason: typeof period === 'string' ? `of ${period}` : '', explained: 'not required' }
}

function approverIn({ approval }: Fields): string {
  if (typeof approval !== 'object' || approval === null || !('approved_by' in approval)) return ''
  return String(approval.approved_by)
}

/** One for each movement; of a grant the user who got it. */
function movesOf({ movements }: LedgerEntry, { user_id, withdrawal_id }: Fields): readonly Move[] {
  if (movements.length === 0) return [{ about: `user ${String(user_id)}`, currency: '', amount: null }]
  return movements.map(({ debit, credit, amount }) => {
    const isGiven = isSystem(debit)
    const account = isGiven && !isSystem(credit) ? credit : debit
    const about = typeof withdrawal_id === 'number' ? `withdrawal ${withdrawal_id}` : account
    return { about, currency: currencyOf(account), amount: BigInt(isGiven ? amount : -amount) }
  })
}

/**
 * The ledger since the last seal up to the closing before, whose checkpoint it is compared with, and the tables. It is a
 * verification as staff start it: one at a time, listed among the others.
 */
export async function verifyStep(options: StepOptions): Promise<StepOutcome> {
  const { url, db, books, folder, madeBy: startedBy, sealsFolder, signer } = options
  const checkpoint = books.previous?.checkpoint ?? null
  const parts = { ...options, chooseReportDatabase: async () => ({ db, url }) }
  // The first closing begins at position 1.
  const target = { full: checkpoint === null, snapshotAt: books.last }
  const seals = sealsFolder === undefined ? target : { ...target, sealsFolder }
  const running = await runVerification(parts, { startedBy, key: null, checkpoint, seals }, options)
  if (running === null) throw new ClosingRefused(VERIFICATION_RUNNING)
  const { draws, ...verification } = await running.ended
  const { findings, position } = verification
  const { snapshot } = verification
  const signed = snapshot && { signature: signer.signText(sealText(snapshot)) }
  const text = JSON.stringify({ ...verification, ...signed, checkpoint })
  const file = await writeHashed(folder, VERIFICATION_FILE, `${text}\n`)
  const found = await StepFindings.of('verify', db)
  for (const one of findings) found.add(one.check, subjectOf(one), one.message)
  if (found.open >= MAX_FINDINGS) found.endEarly()
  const after = position - books.last
  const later = after > 0 ? `, ${after.toLocaleString('en')} of them after the month` : ''
  return {
    ...found.outcome,
    result: tableOf(
      `${formatVerification(verification)}${later}.`,
      ['check', 'position', 'table', 'id', 'message'],
      findings.map((one) => [
        one.check,
        one.position === null ? '' : String(one.position),
        one.table ?? '',
        one.id ?? '',
        one.message,
      ]),
    ),
    files: [file],
    ...(draws !== undefined && { known: { draws } }),
  }
}

/** Every draw of the month, and those since the last seal before it: recomputed, unless the verification just did it. */
export const checkDrawsStep: StepWork = async ({ url, first, last, folder, known }, db, context) => {
  const report = known.draws ?? (await checkDrawsUpTo({ url, db, last, after: first - 1 }, context))
  const { faults } = report
  const found = await StepFindings.of('draws', db)
  for (const { position, message } of faults) found.add('draw', String(position), message)
  const observations = drawObservations(report)
  const text = JSON.stringify({ position: last, ...report, observations })
  const file = await writeHashed(folder, 'draws.json', `${text}\n`)
  const drawn = report.lucky.reduce((sum, { draws }) => sum + draws, 0)
  const spun = report.spins.reduce((sum, { draws }) => sum + draws, 0)
  const checked = `Recomputed draws: ${drawn.toLocaleString('en')}, spins: ${spun.toLocaleString('en')}`
  return {
    ...found.outcome,
    result: tableOf(
      faults.length === 0 ? `${checked}. All are as published.` : `${checked}. Findings: ${faults.length}.`,
      ['position', 'message'],
      [
        ...faults.map(({ position, message }) => [String(position), message]),
        ...observations.map((observation) => ['', `Observation, which stops nothing: ${observation}`]),
      ],
    ),
    files: [file],
  }
}
