/**
 * DejaVu Sans for Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew and Arabic, Noto Sans JP for kana and
 * Japanese characters, most of which Chinese has too. Other characters are shown as boxes.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { create, type Font } from 'fontkit'

export type Weight = 'regular' | 'bold'

export interface Run {
  readonly font: Font
  readonly text: string
}

/** `width` in points. */
export interface Line {
  readonly runs: readonly Run[]
  readonly width: number
}

/** Breaks after spaces, between characters of the second font, and in too long words. `width` in points. */
export function linesOf(text: string, weight: Weight, size: number, width: number): Line[] {
  return text.split('\n').flatMap((paragraph) => paragraphLines(paragraph, weight, size, width))
}

function paragraphLines(text: string, weight: Weight, size: number, width: number): Line[] {
  const limit = width / size
  const lines: string[] = []
  let line = ''
  let length = 0
  for (const word of wordsOf(text, weight)) {
    for (const part of partsOf(word, weight, limit)) {
      const trimmed = lengthOf(part.trimEnd(), weight)
      if (line !== '' && length + trimmed > limit) {
        lines.push(line.trimEnd())
        line = ''
        length = 0
      }
      line += part
      length += lengthOf(part, weight)
    }
  }
  return [...lines, line.trimEnd()].map((one) => {
    const runs = runsOf(one, weight)
    return { runs, width: runs.reduce((sum, run) => sum + runWidth(run, size), 0) }
  })
}

export function widthOf(text: string, weight: Weight, size: number): number {
  return runsOf(text, weight).reduce((sum, run) => sum + runWidth(run, size), 0)
}

/** In points, with kerning. */
export function runWidth({ font, text }: Run, size: number): number {
  return (font.layout(text).advanceWidth * size) / font.unitsPerEm
}

/** In ems, without kerning: enough to break a text into lines, and a tenth of the work. */
function lengthOf(text: string, weight: Weight): number {
  let sum = 0
  for (const character of text) sum += characterLength(character, weight)
  return sum
}

function characterLength(character: string, weight: Weight): number {
  const font = fontOf(character, weight)
  const known = lengths.get(font) ?? new Map<string, number>()
  lengths.set(font, known)
  const length =
    known.get(character) ??
    font.glyphForCodePoint(character.codePointAt(0) ?? 0).advanceWidth / font.unitsPerEm
  known.set(character, length)
  return length
}

/** By font and character; no larger than the fonts. */
const lengths = new WeakMap<Font, Map<string, number>>()

function wordsOf(text: string, weight: Weight): string[] {
  const { [weight]: main } = fonts()
  const words = ['']
  for (const character of text) {
    const last = words.at(-1) ?? ''
    const isOwn = fontOf(character, weight) !== main
    if (last.endsWith(' ') || isOwn) words.push(character)
    else words[words.length - 1] = last + character
  }
  return words.filter((word) => word !== '')
}

function partsOf(word: string, weight: Weight, limit: number): string[] {
  if (lengthOf(word.trimEnd(), weight) <= limit) return [word]
  const parts = ['']
  for (const character of word) {
    const last = parts.at(-1) ?? ''
    if (last !== '' && lengthOf(last + character, weight) > limit) parts.push(character)
    else parts[parts.length - 1] = last + character
  }
  return parts
}

function runsOf(text: string, weight: Weight): Run[] {
  const runs: { font: Font; text: string }[] = []
  for (const character of text) {
    const last = runs.at(-1)
    const font = character === ' ' && last !== undefined ? last.font : fontOf(character, weight)
    if (last?.font === font) last.text += character
    else runs.push({ font, text: character })
  }
  return runs
}

function fontOf(character: string, weight: Weight): Font {
  const { [weight]: main, japanese } = fonts()
  const point = character.codePointAt(0) ?? 0
  return !main.hasGlyphForCodePoint(point) && japanese.hasGlyphForCodePoint(point) ? japanese : main
}

export function allFonts(): Font[] {
  return Object.values(fonts())
}

let loaded: (Readonly<Record<Weight, Font>> & { readonly japanese: Font }) | null = null

function fonts() {
  loaded ??= {
    regular: read(packaged('DejaVuSans.ttf')),
    bold: read(packaged('DejaVuSans-Bold.ttf')),
    japanese: read(fileURLToPath(new URL('./fonts/noto-sans-jp.ttf', import.meta.url))),
  }
  return loaded
}

function packaged(file: string): string {
  return createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${file}`)
}

function read(path: string): Font {
  const font = create(readFileSync(path))
  if ('fonts' in font) throw new Error(`${path} is a collection of fonts`)
  return font
}
