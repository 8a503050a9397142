import { closeSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../src/config/error-code.ts'
import { freePort } from '../../../src/db/cluster/cluster-session.ts'

/** A file for each port that a test on this machine has chosen lately. */
const FOLDER = join(tmpdir(), `economy-ports-${userInfo().uid}`)
const RESERVED_MS = 600_000

/** A free port that no other test gets before a process listens there, which takes seconds to start. */
export async function reservePort(): Promise<number> {
  mkdirSync(FOLDER, { recursive: true })
  for (;;) {
    const port = await freePort()
    const file = join(FOLDER, String(port))
    const reservedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs
    if (reservedAt !== undefined && Date.now() - reservedAt > RESERVED_MS) rmSync(file, { force: true })
    try {
      closeSync(openSync(file, 'wx'))
      return port
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}
