import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip, type Gzip } from 'node:zlib'
import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Checkpoint } from '../../../schema/finance.ts'
import { DEFAULT_SCHEMA } from '../../config/environment.ts'
import { errorCode } from '../../config/error-code.ts'
import { PRIVATE_FILE } from '../../config/files.ts'
import { MONTH_PATTERN } from '../../features/closings/closing.ts'
import { type CheckpointSigner, isSignatureOf } from '../checkpoint.ts'

/** Names that steps give to files; none of them leads out of its folder. */
const FILE_NAME_PATTERN = '^[a-z0-9][a-z0-9-]*\\.(csv|json|jsonl)(\\.gz)?$'

/** The files of an export, which are there for every month. */
export const ENTRIES_FILE = 'entries.csv.gz'
export const EVENTS_FILE = 'events.jsonl.gz'
export const MANIFEST_FILE = 'manifest.json'

export const MadeFile = Type.Object({
  name: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
})
export type MadeFile = Static<typeof MadeFile>

// No text has a line break: the signed text has one fact in each line.
const Time = Type.String({ pattern: '^[0-9T:.Z-]{1,40}$' })

const Unsigned = {
  /** YYYY-MM */
  month: Type.String({ pattern: MONTH_PATTERN }),
  /** The positions that the files cover. */
  from: Type.Integer(),
  to: Type.Integer(),
  from_at: Type.Union([Time, Type.Null()]),
  to_at: Type.Union([Time, Type.Null()]),
  files: Type.Array(Type.Object({ ...MadeFile.properties, name: Type.String({ pattern: FILE_NAME_PATTERN }) })),
  /** The ledger's hash at the last position. */
  checkpoint: Checkpoint,
  made_by: Type.String({ pattern: '^[ -~]{1,120}$' }),
  made_at: Time,
}
const UnsignedManifest = Type.Object(Unsigned)
const Manifest = Type.Object({ ...Unsigned, signature: Type.String() })

/** What an export of a month consists of. */
export type Manifest = Static<typeof Manifest>

/** The signed text, a line for each fact and each file, so that OpenSSL alone can check the signature. */
function signedText(manifest: Static<typeof UnsignedManifest>): string {
  const { month, from, to, from_at, to_at, files, checkpoint, made_by, made_at } = manifest
  const facts = [
    'ledger export',
    `month ${month}`,
    `from ${from} ${from_at ?? '-'}`,
    `to ${to} ${to_at ?? '-'}`,
    `hash ${checkpoint.hash}`,
    `by ${made_by}`,
    `at ${made_at}`,
    `files ${files.length}`,
    ...files.map(({ name, bytes, sha256 }) => `file ${name} ${bytes} ${sha256}`),
  ]
  return facts.map((fact) => `${fact}\n`).join('')
}

export const signManifest = (manifest: Static<typeof UnsignedManifest>, signer: CheckpointSigner): Manifest => ({
  ...manifest,
  signature: signer.signText(signedText(manifest)),
})

/** Reads a manifest; throws with a message for people when the text is none. */
export function parseManifest(text: string): Manifest {
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch {
    throw new Error('This is not a manifest: it is not JSON.')
  }
  if (!Value.Check(Manifest, manifest)) throw new Error('This is not a manifest: fields are missing or invalid.')
  return manifest
}

/** Whether the manifest was signed by the key of its checkpoint, and not changed since. */
export const isSigned = (manifest: Manifest): boolean =>
  isSignatureOf(signedText(manifest), manifest.signature, manifest.checkpoint.public_key)

/** Level 4 takes half as much time again, for 6% less. */
const GZIP_LEVEL = 2
const CHUNK_BYTES = 65_536

/**
 * A file that is written piece by piece, and hashed on the way as it is stored: compressed where its name ends in `.gz`. An
 * old one of the same name is replaced.
 */
export class HashedFile {
  readonly #name: string
  readonly #input: PassThrough | Gzip
  readonly #stored: Promise<void>
  readonly #hash = createHash('sha256')
  #bytes = 0

  private constructor(name: string, handle: FileHandle) {
    this.#name = name
    this.#input = name.endsWith('.gz') ? createGzip({ level: GZIP_LEVEL, chunkSize: CHUNK_BYTES }) : new PassThrough()
    this.#stored = pipeline(this.#input, (chunks) => this.#hashed(chunks), handle.createWriteStream({ flush: true }))
    // `close` rejects with its error.
    this.#stored.catch(() => {})
  }

  static async create(folder: string, name: string): Promise<HashedFile> {
    return new HashedFile(name, await open(join(folder, name), 'w', PRIVATE_FILE))
  }

  async write(text: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#input.write(text, (error) => (error ? reject(error) : resolve()))
    })
  }

  async *#hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      this.#hash.update(chunk)
      this.#bytes += chunk.length
      yield chunk
    }
  }

  async close(): Promise<MadeFile> {
    this.#input.end()
    await this.#stored
    return { name: this.#name, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }
}

/** Writes a whole file. */
export async function writeHashed(folder: string, name: string, text: string): Promise<MadeFile> {
  const file = await HashedFile.create(folder, name)
  await file.write(text)
  return file.close()
}

/** The SHA-256 of a stored file in hexadecimal. Rejects with Node's error when it cannot be read. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** The folder of month closings in DATA_DIR. Ledgers in other schemas have their own. */
export const closingsFolder = (dataDir: string, schema: string): string =>
  join(dataDir, schema === DEFAULT_SCHEMA ? 'closings' : `closings-${schema}`)

/** The folder of one month, `2026-10`, in that of all closings. */
export const monthFolder = (closings: string, month: string): string => join(closings, month)

/** Where a folder is, for people: `host-a:/data/closings/2026-10`. */
export const locationOf = (folder: string): string => `${hostname()}:${resolve(folder)}`

/** In the folder that holds all months, so that it stays when the folder of one is lost. */
const idFile = (month: string): string => join(dirname(month), '.id')

/**
 * The id of the folder of all closings that the folder `month` is in: the same on each host and in each container that has
 * this folder. Null before any step ran there.
 */
export function readFolderId(month: string): string | null {
  try {
    return readFileSync(idFile(month), 'utf8').trim() || null
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw error
  }
}

/** The same; it is made when there is none yet. The folder of all closings exists. */
export function ensureFolderId(month: string): string {
  const known = readFolderId(month)
  if (known !== null) return known
  try {
    writeFileSync(idFile(month), `${randomUUID()}\n`, { flag: 'wx', mode: PRIVATE_FILE, flush: true })
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error
  }
  const id = readFolderId(month)
  if (id === null) throw new Error(`${idFile(month)} is empty. Delete it, and run the step again.`)
  return id
}

const fileName = new RegExp(FILE_NAME_PATTERN)

/** A file of a closing by its name; null when there is none. */
export function findClosingFile(
  folder: string,
  name: string,
): { readonly path: string; readonly bytes: number } | null {
  if (!fileName.test(name)) return null
  const path = join(folder, name)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  return stats?.isFile() === true ? { path, bytes: stats.size } : null
}
