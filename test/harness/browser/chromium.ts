import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Browser, chromium } from 'playwright-core'
import { DEADLINE_MS } from '../until.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The package has Chromium for Linux on x64 only: elsewhere tests with a browser are skipped. */
export const skipWithoutBrowser =
  process.platform === 'linux' && process.arch === 'x64' ? false : 'Chromium from npm is for Linux on x64 only'

/** Starts a Chromium that came with `npm ci`; it downloads nothing and talks to no service of Google. */
export async function launchChromium(): Promise<Browser> {
  const folder = await unpackedChromium()
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: folder,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      FONTCONFIG_PATH: folder,
    },
    timeout: DEADLINE_MS,
    args: [
      '--no-sandbox',
      '--no-zygote',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-domain-reliability',
      '--disable-sync',
      '--no-first-run',
      '--no-pings',
      '--font-render-hinting=none',
    ],
  })
}

/** The folder of the unpacked browser. Test processes that start at once may each unpack it; the first one done is used. */
async function unpackedChromium(): Promise<string> {
  const { version } = Object(
    JSON.parse(readFileSync(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')),
  )
  const cache = join(root, 'node_modules/.cache')
  const folder = join(cache, `chromium-${version}`)
  if (existsSync(folder)) return folder
  mkdirSync(cache, { recursive: true })
  const unfinished = mkdtempSync(join(cache, 'chromium-unfinished-'))
  try {
    const script = fileURLToPath(new URL('unpack-here.ts', import.meta.url))
    await promisify(execFile)(process.execPath, [script], { env: { ...process.env, TMPDIR: unfinished } })
    writeFileSync(join(unfinished, 'fonts.conf'), FONTS)
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
  return folder
}

/**
 * Only the fonts of the package, so that pages look alike on every machine. The folder may be moved, so that nothing names
 * its path: `xdg` is below HOME.
 */
const FONTS = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir prefix="relative">fonts</dir>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
`
