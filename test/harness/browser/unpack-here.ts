import { fileURLToPath } from 'node:url'
import chromium, { inflate } from '@sparticuz/chromium'

// Unpacks Chromium, its fonts and the libraries that a bare Linux lacks into the folder TMPDIR. The package unpacks to no
// other place, so this runs in a process of its own.

await chromium.executablePath()
await inflate(fileURLToPath(new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'))))
