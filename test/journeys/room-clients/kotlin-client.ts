import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const COMPILER_JAR = /^(kotlin-(compiler|stdlib|reflect|script-runtime)|kotlinx-coroutines-core-jvm)\.jar$/
const LIBRARIES = ['okhttp.jar', 'okio.jar', 'com.android.json.jar']

/** Folders of the jars of the Kotlin compiler (npm's kotlin-compiler) and of Debian's Java libraries. */
const { KOTLIN_COMPILER: compiler = '', JAVA_LIBRARIES: libraries = '/usr/share/java' } = process.env

/** Whether the Kotlin client can be compiled and run; else why not. */
export const kotlinIsMissing: string | false =
  compiler === ''
    ? 'KOTLIN_COMPILER names no compiler'
    : LIBRARIES.every((name) => existsSync(join(libraries, name)))
      ? false
      : `${libraries} lacks ${LIBRARIES.join(' or ')}`

const classPath = (...jars: readonly string[]): string => jars.join(':')
const runtime = [join(compiler, 'kotlin-stdlib.jar'), ...LIBRARIES.map((name) => join(libraries, name))]

let compiled: string | undefined

/** Compiles the client with the documented observer of the app's lifecycle; returns the command that runs it. */
export function kotlinClient(observer: string): readonly [program: string, args: readonly string[]] {
  compiled ??= compile(observer)
  return ['java', ['-cp', classPath(compiled, ...runtime), 'MainKt']]
}

function compile(observer: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'economy-kotlin-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const observerFile = join(folder, 'Observer.kt')
  const imports = ['DefaultLifecycleObserver', 'LifecycleOwner', 'ProcessLifecycleOwner']
  writeFileSync(
    observerFile,
    `${imports.map((name) => `import androidx.lifecycle.${name}\n`).join('')}
fun observe(client: RoomClient) {
${observer}
}
`,
  )
  const stubs = join(root, 'test/journeys/room-clients/kotlin')
  const sources = readdirSync(stubs).map((name) => join(stubs, name))
  const compilerJars = readdirSync(compiler).filter((name) => COMPILER_JAR.test(name))
  const compilerPath = classPath(...compilerJars.map((name) => join(compiler, name)))
  const options = ['-no-reflect', '-no-stdlib', '-Werror', '-cp', classPath(...runtime), '-d', folder]
  const files = [join(root, 'src/realtime/clients/RoomClient.kt'), ...sources, observerFile]
  const args = ['-cp', compilerPath, 'org.jetbrains.kotlin.cli.jvm.K2JVMCompiler', ...options, ...files]
  execFileSync('java', args, { stdio: 'inherit' })
  return folder
}
