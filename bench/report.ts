import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { VERSION } from '../config/release.ts'
import { type Metric, ratioOf } from './metric.ts'
import { median } from './statistics.ts'

export interface PartResult {
  readonly name: string
  readonly metrics: readonly Metric[]
  readonly failure: string | null
}

export interface Run {
  readonly startedAt: Date
  readonly quick: boolean
  /** Load average of the minute before the run, caused by other programs: nothing was started yet. */
  readonly loadBefore: number
}

export function beginRun(quick: boolean): Run {
  return { startedAt: new Date(), quick, loadBefore: loadavg()[0] ?? 0 }
}

export function conditions({ quick, loadBefore }: Run): string[] {
  const processors = cpus()
  const busy = loadBefore > availableParallelism() / 4
  return [
    `${processors.length} cores (${processors[0]?.model.trim() ?? 'unknown'}), Node ${process.version}, service ${VERSION}${quick ? ', QUICK: a part of the work, metrics are only a trial' : ''}.`,
    'Service, services, baselines, receiver and load generator share these cores; absolute values depend on them, so',
    'each metric stands beside its baseline: measured alternately, the ratio is the median over the rounds.',
    ...(busy
      ? [
          `The machine was busy with other things before (load ${loadBefore.toFixed(1)}): rates and ratios are too low. CPU s/1000 suffers less.`,
        ]
      : []),
  ]
}

export function table(results: readonly PartResult[]): string[] {
  const rows = results.flatMap(({ name, metrics, failure }) =>
    failure === null
      ? metrics.map((metric) => [name, metric.what, ...numbers(metric)])
      : [[name, 'could not be measured', '', '', '', '']],
  )
  const all = [['part', 'what', 'service', 'baseline', 'ratio', 'aim'], ...rows]
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) =>
        column >= 2 && column <= 4 ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return all.map(line)
}

export function notes(results: readonly PartResult[]): string[] {
  return results.flatMap(({ name, metrics, failure }) => [
    ...(failure === null ? [] : ['', `${name}: ${failure}`]),
    ...metrics.flatMap((metric) => [
      '',
      `${name}: ${metric.what}`,
      `  ${metric.note}`,
      `  rounds: ${metric.service.map((value) => rounded(value)).join(', ')} ${metric.unit}${
        metric.baseline.length === 0
          ? ''
          : `; baseline: ${metric.baseline.map((value) => rounded(value)).join(', ')} ${metric.unit}`
      }`,
      ...(Object.keys(metric.beside).length === 0
        ? []
        : [
            `  ${Object.entries(metric.beside)
              .map(([what, value]) => `${what} ${value === null ? 'unknown' : rounded(value)}`)
              .join(', ')}`,
          ]),
    ]),
  ])
}

export function writeJson(directory: string, results: readonly PartResult[], run: Run): string {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, `${run.startedAt.toISOString().replaceAll(':', '-')}.json`)
  const processors = cpus()
  const document = {
    startedAt: run.startedAt.toISOString(),
    quick: run.quick,
    loadBefore: run.loadBefore,
    version: VERSION,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    cores: processors.length,
    processor: processors[0]?.model.trim() ?? null,
    parts: results.map(({ name, metrics, failure }) => ({
      name,
      failure,
      metrics: metrics.map((metric) => ({ ...metric, ratio: ratioOf(metric), met: isMet(metric) })),
    })),
  }
  writeFileSync(path, `${JSON.stringify(document, null, 2)}\n`)
  return path
}

function numbers(metric: Metric): string[] {
  const { service, baseline, unit, aim } = metric
  const ratio = ratioOf(metric)
  const value = (values: readonly number[]): string =>
    values.length === 0 ? '–' : `${rounded(median(values))} ${unit}`
  return [
    value(service),
    value(baseline),
    ratio === null ? '–' : String(Number(ratio.toPrecision(3))),
    aim === null ? '–' : `≥ ${aim} ${isMet(metric) ? 'met' : 'MISSED'}`,
  ]
}

function isMet(metric: Metric): boolean | null {
  const ratio = ratioOf(metric)
  return metric.aim === null || ratio === null ? null : ratio >= metric.aim
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)))
}
