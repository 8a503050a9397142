import type { Config } from '../../config/config.ts'

/**
 * Where clients reach the service, as it was configured and never as a request's `Host` claims, and which pages may
 * talk to it. Without PUBLIC_URL that is this machine, at the port that is listened on.
 */
export class PublicAddress {
  readonly #config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins'>
  #url: string
  #origins: ReadonlySet<string>

  constructor(config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins' | 'port'>) {
    this.#config = config
    this.#url = ''
    this.#origins = new Set()
    this.setPort(config.port)
  }

  /** With PORT=0 the port is known only once the server listens. */
  setPort(port: number): void {
    const { publicUrl, allowedOrigins } = this.#config
    const own = publicUrl === null ? [`http://127.0.0.1:${port}`, `http://localhost:${port}`] : [publicUrl]
    this.#url = publicUrl ?? `http://127.0.0.1:${port}`
    this.#origins = new Set([...own.map((url) => new URL(url).origin), ...allowedOrigins])
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#url
  }

  /** What the addresses of stored paths begin with, without a slash at its end. */
  get assetBaseUrl(): string {
    return this.#config.assetBaseUrl ?? `${this.#url}/assets`
  }

  /** Whether pages of this origin may open sockets. */
  readonly isAllowedOrigin = (origin: string): boolean => this.#origins.has(origin)
}
