import { type Static, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { Checkpoint } from '../../../schema/finance.ts'
import type { CheckpointSigner } from '../checkpoint/checkpoint.ts'
import { isSignatureOf } from '../checkpoint/checkpoint.ts'
import { MadeFile } from './step-state.ts'

const Unsigned = {
  /** YYYY-MM */
  month: Type.String(),
  /** The positions that the files cover. */
  from: Type.Integer(),
  to: Type.Integer(),
  from_at: Type.Union([Type.String(), Type.Null()]),
  to_at: Type.Union([Type.String(), Type.Null()]),
  files: Type.Array(MadeFile),
  /** Of the last position: what the ledger's hash was there. */
  checkpoint: Checkpoint,
  made_by: Type.String(),
  made_at: Type.String(),
}
const UnsignedManifest = Type.Object(Unsigned)
const Manifest = Type.Object({ ...Unsigned, signature: Type.String() })

/** What an export of a month consists of. */
export type Manifest = Static<typeof Manifest>

/** The signed text, a line for each fact and each file, so that OpenSSL alone can check the signature. */
function signedText({ month, from, to, files, checkpoint, made_by, made_at }: Static<typeof UnsignedManifest>): string {
  const lines = files.map(({ name, bytes, sha256 }) => `file ${name} ${bytes} ${sha256}\n`).join('')
  return `ledger export\nmonth ${month}\nfrom ${from}\nto ${to}\nhash ${checkpoint.hash}\nby ${made_by}\nat ${made_at}\n${lines}`
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
