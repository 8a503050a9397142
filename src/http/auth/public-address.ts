import type { Config } from '../../config/config.ts'

/**
 * The service's address for clients, from configuration and never from a request's `Host`, and the origins that may
 * call it. Without PUBLIC_URL: this machine, at the listening port.
 */
export class PublicAddress {
  readonly #config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins'>
  #url: string
  #origins: ReadonlySet<string>
  #ownOrigins: ReadonlySet<string>

  constructor(config: Pick<Config, 'publicUrl' | 'assetBaseUrl' | 'allowedOrigins' | 'port'>) {
    this.#config = config
    this.#url = ''
    this.#origins = new Set()
    this.#ownOrigins = new Set()
    this.setPort(config.port)
  }

  /** With PORT=0 the port is known only once the server listens. */
  setPort(port: number): void {
    const { publicUrl, allowedOrigins } = this.#config
    const own = publicUrl === null ? [`http://127.0.0.1:${port}`, `http://localhost:${port}`] : [publicUrl]
    this.#url = publicUrl ?? `http://127.0.0.1:${port}`
    this.#ownOrigins = new Set(own.map((url) => new URL(url).origin))
    this.#origins = new Set([...this.#ownOrigins, ...allowedOrigins])
  }

  /** Without a slash at its end. */
  get url(): string {
    return this.#url
  }

  /** The base of the addresses of stored paths, without a slash at its end. */
  get assetBaseUrl(): string {
    return this.#config.assetBaseUrl ?? `${this.#url}/assets`
  }

  /** Whether pages of this origin may open sockets. */
  readonly isAllowedOrigin = (origin: string): boolean => this.#origins.has(origin)

  /** Whether this is the service's own address, and not only one that may call it. */
  readonly isOwnOrigin = (origin: string): boolean => this.#ownOrigins.has(origin)
}
