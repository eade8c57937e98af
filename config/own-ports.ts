/** The ports of this deployment, which a webhook must not reach on this machine, whatever networks are allowed. */
import type { Config } from './config.ts'

type Ports = Pick<Config, 'port' | 'opsPort' | 'localTemporalUiPort'>

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  'http:': 80,
  'postgres:': 5432,
  'postgresql:': 5432,
}

export function ownPorts(
  { port, opsPort, localTemporalUiPort }: Ports,
  databaseUrl: string,
  temporalAddress: string | undefined,
): number[] {
  const ports = [port, opsPort, localTemporalUiPort, portOf(databaseUrl)]
  if (temporalAddress !== undefined) ports.push(portOf(`http://${temporalAddress}`))
  return ports.filter((one) => one > 0)
}

function portOf(url: string): number {
  if (!URL.canParse(url)) return 0
  const { port, protocol } = new URL(url)
  return port === '' ? (DEFAULT_PORTS[protocol] ?? 0) : Number(port)
}
