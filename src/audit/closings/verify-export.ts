import { createReadStream, readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Kysely } from 'kysely'
import type { Tables } from '../../db/tables.ts'
import { currencyOf } from '../../ledger/rules/account.ts'
import { readCheckpoint } from '../checkpoint.ts'
import { formatDecimal } from '../format.ts'
import { foldAccounts } from '../reports/fold-accounts.ts'
import type { QueryContext } from '../reports/query-context.ts'
import {
  ENTRIES_FILE,
  EVENTS_FILE,
  findClosingFile,
  hashFile,
  isSigned,
  MANIFEST_FILE,
  type Manifest,
  parseManifest,
} from './files.ts'

export interface ExportReport {
  readonly manifest: Manifest
  /** Files that were looked at. */
  readonly files: readonly string[]
  /** For people; empty when all is as it was made. */
  readonly findings: readonly string[]
}

/** How to read what a line of a file moves. */
const readers = new Map<string, ReadLine>([
  [ENTRIES_FILE, addCsvPosting],
  [EVENTS_FILE, addJsonPostings],
])

/**
 * Compares an export with its manifest, and both with the ledger: `path` is the manifest, or one of its files with
 * the manifest next to it. `publicKey` is that of the ledger's checkpoints. Throws when there is no manifest.
 */
export async function verifyExport(
  db: Kysely<Tables>,
  path: string,
  publicKey: string,
  context: QueryContext,
): Promise<ExportReport> {
  const folder = dirname(resolve(path))
  const asked = basename(path)
  const manifest = parseManifest(readManifest(join(folder, MANIFEST_FILE)))
  const names = manifest.files.map(({ name }) => name)
  const unlisted = [...readers.keys()].filter((name) => !names.includes(name))
  const listed = manifest.files.filter(({ name }) => asked === MANIFEST_FILE || name === asked)
  if (listed.length === 0) throw new Error(`${asked} is not a file of the manifest next to it.`)
  const findings = [
    ...checkSignatures(manifest, publicKey),
    ...(await checkHead(db, manifest)),
    ...unlisted.map((name) => `${MANIFEST_FILE}: does not list ${name}`),
  ]
  const expected = await ledgerSums(db, manifest, context)
  for (const { name, bytes, sha256 } of listed) {
    const file = findClosingFile(folder, name)
    if (file === null) findings.push(`${name}: is missing`)
    else {
      if (file.bytes !== bytes) findings.push(`${name}: has ${file.bytes} bytes, the manifest says ${bytes}`)
      const hash = await hashFile(file.path)
      if (hash !== sha256) findings.push(`${name}: has the SHA-256 ${hash}, the manifest says ${sha256}`)
      const readLine = readers.get(name)
      if (readLine !== undefined) findings.push(...(await compareSums(file.path, name, readLine, expected)))
    }
  }
  return { manifest, files: listed.map(({ name }) => name), findings }
}

function readManifest(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new Error(`There is no manifest ${path}.`, { cause: error })
  }
}

function checkSignatures(manifest: Manifest, publicKey: string): string[] {
  const findings: string[] = []
  try {
    readCheckpoint(JSON.stringify(manifest.checkpoint), publicKey)
  } catch (error) {
    findings.push(`${MANIFEST_FILE}: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (!isSigned(manifest)) findings.push(`${MANIFEST_FILE}: the signature is wrong: its text was changed.`)
  if (manifest.checkpoint.position !== manifest.to)
    findings.push(`${MANIFEST_FILE}: its checkpoint is of position ${manifest.checkpoint.position}, not ${manifest.to}`)
  return findings
}

/** The ledger must have the checkpoint's hash at its position. */
async function checkHead(db: Kysely<Tables>, { checkpoint }: Manifest): Promise<string[]> {
  const { position, hash } = checkpoint
  const event = await db.selectFrom('ledger').select('hash').where('position', '=', position).executeTakeFirst()
  if (event === undefined) return [`position ${position}: is missing in the ledger`]
  return event.hash === hash ? [] : [`position ${position}: has the hash ${event.hash}, the checkpoint says ${hash}`]
}

/** Sums by account, in whole units (cents of a dollar). */
type Sums = Map<string, bigint>

const add = (sums: Sums, account: string, amount: bigint): void =>
  void sums.set(account, (sums.get(account) ?? 0n) + amount)

async function ledgerSums(db: Kysely<Tables>, { from, to }: Manifest, context: QueryContext): Promise<Sums> {
  const sums: Sums = new Map()
  await foldAccounts(db, { first: from, last: to }, context, (account, amount) => add(sums, account, BigInt(amount)))
  return sums
}

function differences(name: string, sums: Sums, expected: Sums): string[] {
  return [...new Set([...expected.keys(), ...sums.keys()])]
    .filter((account) => (sums.get(account) ?? 0n) !== (expected.get(account) ?? 0n))
    .slice(0, 20)
    .map((account) => {
      const amount = (of: Sums): string => formatDecimal(currencyOf(account), of.get(account) ?? 0n)
      return `${name}: ${account} sums to ${amount(sums)}, in the ledger to ${amount(expected)}`
    })
}

/** Adds what a line of a file moves. */
type ReadLine = (line: string, sums: Sums) => void

/** What is wrong with the sums of a compressed file. */
async function compareSums(path: string, name: string, readLine: ReadLine, expected: Sums): Promise<string[]> {
  const sums: Sums = new Map()
  try {
    let rest = ''
    // Its error ends the loop.
    const unzipped = pipeline(createReadStream(path), createGunzip(), () => {})
    for await (const chunk of unzipped.setEncoding('utf8')) {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) readLine(line, sums)
    }
    readLine(rest, sums)
  } catch (error) {
    return [`${name}: cannot be read: ${error instanceof Error ? error.message : String(error)}`]
  }
  return differences(name, sums, expected)
}

/** Whole units of an amount with or without two decimals; 0 for what is none, which then is a difference. */
const unitsOf = (text: string): bigint => (/^-?\d+(\.\d\d)?$/.test(text) ? BigInt(text.replace('.', '')) : 0n)

/** The last four cells need no quotation marks: account, counter account, currency, amount. */
function addCsvPosting(line: string, sums: Sums): void {
  const [account, , , amount] = line.split(',').slice(-4)
  if (account !== undefined && amount !== undefined && account !== 'account') add(sums, account, unitsOf(amount))
}

const jsonMovement = /\{"debit":"([^"]+)","credit":"([^"]+)","currency":"[^"]+","amount":(\d+)\}/g

/** Movements come before the data of an event, which could hold the same text. */
function addJsonPostings(line: string, sums: Sums): void {
  for (const [, debit = '', credit = '', amount = ''] of line.split('"data":', 1)[0]?.matchAll(jsonMovement) ?? []) {
    add(sums, debit, -BigInt(amount))
    add(sums, credit, BigInt(amount))
  }
}
