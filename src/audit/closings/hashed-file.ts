import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { PRIVATE_FILE } from '../../config/files.ts'
import type { MadeFile } from './step-state.ts'

/** A file that is written piece by piece, and hashed on the way. An old one of the same name is replaced. */
export class HashedFile {
  readonly #name: string
  readonly #handle: FileHandle
  readonly #hash = createHash('sha256')
  #bytes = 0

  private constructor(name: string, handle: FileHandle) {
    this.#name = name
    this.#handle = handle
  }

  static async create(folder: string, name: string): Promise<HashedFile> {
    return new HashedFile(name, await open(join(folder, name), 'w', PRIVATE_FILE))
  }

  readonly write = async (text: string): Promise<void> => {
    const bytes = Buffer.from(text)
    this.#hash.update(bytes)
    this.#bytes += bytes.length
    await this.#handle.appendFile(bytes)
  }

  async close(): Promise<MadeFile> {
    await this.#handle.sync()
    await this.#handle.close()
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
