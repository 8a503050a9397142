import { execFile } from 'node:child_process'
import { join } from 'node:path'

export const auditScript = join(import.meta.dirname, '../../scripts/audit.ts')

export interface Run {
  readonly code: number | string
  readonly out: string
  readonly err: string
}

/** Runs the audit's command line in a process of its own. */
export function runAudit(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Run> {
  const { DATABASE_URL: _url, DATA_DIR: _dir, ...rest } = process.env
  return new Promise((resolve) => {
    execFile(process.execPath, [auditScript, ...args], { env: { ...rest, ...env } }, (error, out, err) =>
      resolve({ code: error?.code ?? 0, out, err }),
    )
  })
}
