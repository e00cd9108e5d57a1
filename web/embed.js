// embed.js FOLDER OUT.cc    writes the files of a built page as constants for src/service/page/page.h
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
};
const BYTES_A_LINE = 64;
const HASHED = /^\/assets\/.*-[\w-]{8}\.\w+$/;

// The bytes as a string literal, each as three octal digits, so that none runs into the next.
function literal(bytes) {
  if (bytes.length === 0) return '""';
  const lines = [];
  for (let i = 0; i < bytes.length; i += BYTES_A_LINE) {
    const line = [...bytes.subarray(i, i + BYTES_A_LINE)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
    lines.push(`"${line.join('')}"`);
  }
  return lines.join('\n');
}

const view = (bytes) => `std::string_view(${literal(bytes)}, ${bytes.length})`;

function entry(folder, file) {
  const path = `/${relative(folder, file).replaceAll('\\', '/')}`;
  const type = TYPES[extname(file)];
  if (type === undefined) throw new Error(`${file}: embed.js knows no content type for ${extname(file)}; add it to TYPES`);
  const content = readFileSync(file);
  const digest = createHash('sha256').update(content).digest('hex').slice(0, 32);
  return `{.path = "${path}", .content_type = "${type}", .digest = "${digest}",
.content = ${view(content)},
.gzipped = ${view(gzipSync(content, { level: 9 }))},
.is_hashed = ${HASHED.test(path)}},
`;
}

const [folder, out] = process.argv.slice(2);
const files = readdirSync(folder, { recursive: true, withFileTypes: true })
  .filter((file) => file.isFile())
  .map((file) => join(file.parentPath, file.name))
  .sort();
writeFileSync(
  out,
  `// Written by web/embed.js.
#pragma clang diagnostic ignored "-Woverlength-strings"
#include "service/page/page.h"
namespace attune {
namespace {
constexpr PageFile kPage[] = {
${files.map((file) => entry(folder, file)).join('')}};
}  // namespace
std::span<const PageFile> EmbeddedPage() { return kPage; }
}  // namespace attune
`,
);
