import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Checkpoint } from '../../../schema/finance.ts'
import { MONTH_PATTERN } from '../../features/closings/closing.ts'
import { type CheckpointSigner, isSignatureOf } from '../checkpoint/checkpoint.ts'
import { FILE_NAME_PATTERN } from './folder.ts'
import { MadeFile } from './step-state.ts'

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
  /** Of the last position: what the ledger's hash was there. */
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
