import { inflateSync } from 'node:zlib'

/** Returns the lines of each page from the top down; texts at one height are joined by ` | `. */
export function pdfText(document: Uint8Array): string[][] {
  const source = Buffer.from(document).toString('latin1')
  const objects = new Map(
    [...source.matchAll(/(\d+) 0 obj\n([\s\S]*?)\nendobj/g)].map(([, id, body]) => [id ?? '', body ?? '']),
  )
  const [, kids = ''] = /\/Kids \[(.*?)\]/.exec([...objects.values()].join('\n')) ?? []
  return references(kids).map((page) => {
    const body = objects.get(page) ?? ''
    const content = streamOf(objects.get(reference(body, 'Contents')) ?? '')
    const resources = objects.get(reference(body, 'Resources')) ?? ''
    const fonts = new Map(
      [...resources.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name, id]) => {
        const font = objects.get(id ?? '') ?? ''
        return [name ?? '', charactersOf(streamOf(objects.get(reference(font, 'ToUnicode')) ?? ''))]
      }),
    )
    return linesOf(content, fonts)
  })
}

function linesOf(content: string, fonts: ReadonlyMap<string, readonly string[]>): string[] {
  const texts = [
    ...content.matchAll(/1 0 0 1 (\S+) (\S+) Tm\n\/(F\d+) \S+ Tf\n(?:[^[]*\n)?\[(.*?)\] TJ/g),
  ].map(([, x, y, font, shown]) => ({
    x: Number(x),
    y: Number(y),
    text: [...(shown ?? '').matchAll(/<([0-9a-f]*)>/g)]
      .flatMap(([, hex]) => (hex ?? '').match(/.{4}/g) ?? [])
      .map((glyph) => fonts.get(font ?? '')?.[Number.parseInt(glyph, 16)] ?? '?')
      .join(''),
  }))
  const byHeight = Map.groupBy(texts, ({ y }) => y)
  return [...byHeight]
    .toSorted(([one], [other]) => other - one)
    .map(([, line]) =>
      line
        .toSorted((one, other) => one.x - other.x)
        .map(({ text }) => text)
        .join(' | '),
    )
}

/** Returns the characters of a font's glyphs, by their number in the document; U+0000 is a missing one. */
function charactersOf(map: string): string[] {
  return [...map.matchAll(/<[0-9a-f]{4}> <[0-9a-f]{4}> \[(.*?)\]/g)].flatMap(([, all]) =>
    [...(all ?? '').matchAll(/<([0-9a-f ]*)>/g)].map(([, units]) =>
      String.fromCharCode(
        ...((units ?? '').replaceAll(' ', '').match(/.{4}/g) ?? []).map((unit) => Number.parseInt(unit, 16)),
      ),
    ),
  )
}

function streamOf(object: string): string {
  const [, bytes = ''] = /stream\n([\s\S]*)\nendstream/.exec(object) ?? []
  return bytes === '' ? '' : inflateSync(Buffer.from(bytes, 'latin1')).toString('latin1')
}

function references(text: string): string[] {
  return [...text.matchAll(/(\d+) 0 R/g)].map(([, id]) => id ?? '')
}

function reference(object: string, name: string): string {
  return new RegExp(`/${name} (\\d+) 0 R`).exec(object)?.[1] ?? ''
}
