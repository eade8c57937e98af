import { binaryCache, buildGoProgram, type GoProgram } from './go-program.ts'

/** Newer servers require a newer Go than 1.26.8, which README and temporal.ts name. The versions in temporal-schema.ts belong to this one. */
const SERVER = '1.32.1'
const UI = '2.54.1'

const PROGRAMS = {
  server: {
    title: `Temporal server ${SERVER}`,
    folder: `temporal-${SERVER}`,
    name: 'temporal-server',
    module: `go.temporal.io/server/cmd/server@v${SERVER}`,
  },
  sqlTool: {
    title: `Temporal SQL tool ${SERVER}`,
    folder: `temporal-${SERVER}`,
    name: 'temporal-sql-tool',
    module: `go.temporal.io/server/cmd/tools/sql@v${SERVER}`,
  },
  ui: {
    title: `Temporal UI ${UI}`,
    folder: `temporal-ui-${UI}`,
    name: 'temporal-ui',
    module: `github.com/temporalio/ui-server/v2/cmd/server@v${UI}`,
  },
} as const satisfies Record<string, GoProgram>

export type TemporalPrograms = { server: string; sqlTool: string; ui: string | null }

export type BuildOptions = {
  withUi: boolean
  fallbackCache: string
  log: (line: string) => void
  signal?: AbortSignal | undefined
}

/** Safe under concurrent calls. Leaves out the UI if only its build fails; throws if another does. */
export async function buildTemporal(options: BuildOptions): Promise<TemporalPrograms> {
  const cache = binaryCache(options.fallbackCache)
  const wanted = options.withUi ? 3 : 2
  const build = (program: GoProgram, number: number) =>
    buildGoProgram(program, `${number} of ${wanted}, once per machine`, cache, options)
  const server = await build(PROGRAMS.server, 1)
  const sqlTool = await build(PROGRAMS.sqlTool, 2)
  if (!options.withUi) return { server, sqlTool, ui: null }
  try {
    return { server, sqlTool, ui: await build(PROGRAMS.ui, 3) }
  } catch (error) {
    options.signal?.throwIfAborted()
    options.log(`No Temporal UI: ${error instanceof Error ? error.message : error}`)
    return { server, sqlTool, ui: null }
  }
}
