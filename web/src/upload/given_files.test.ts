import { expect, test } from 'vitest';
import { chosenFiles, droppedFiles, type GivenFile } from './given_files';

const names = (given: readonly GivenFile[]): string[] => given.map(({ name }) => name);

// Entries as a browser gives them: a folder's two at a time.
type Tree = { [name: string]: Tree | null };
function entry(name: string, tree: Tree | null): unknown {
  if (tree === null) return { name, isDirectory: false, file: (done: (file: File) => void) => done(new File([], name)) };
  const left = Object.entries(tree).map(([below, of]) => entry(below, of));
  return { name, isDirectory: true, createReader: () => ({ readEntries: (done: (piece: unknown[]) => void) => done(left.splice(0, 2)) }) };
}
function items(tree: Tree): DataTransferItem[] {
  return Object.entries(tree).map(([name, of]) => ({ webkitGetAsEntry: () => entry(name, of), getAsFile: () => (of === null ? new File([], name) : null) }) as unknown as DataTransferItem);
}
function chosen(name: string, path: string): File {
  return Object.assign(new File([], name), { webkitRelativePath: path });
}

test('files have their names, and those of a folder the paths below it', () => {
  expect(names(chosenFiles([chosen('a.npy', '')]))).toEqual(['a.npy']);
  expect(names(chosenFiles([chosen('b.jpg', 'photos/b.jpg'), chosen('.DS_Store', 'photos/.DS_Store'), chosen('c.jpg', 'photos/old/c.jpg')]))).toEqual(['b.jpg', 'old/c.jpg']);
});
test('a dropped folder is read to its end', async () => {
  const photos = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}.jpg`, null]));
  expect(names(await droppedFiles(items({ photos })))).toEqual(['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e.jpg']);
});
test('several folders keep their names, since each may be a sample of several inputs', async () => {
  const sample = { 'ids.npy': null, 'mask.npy': null, '.hidden': null };
  expect(names(await droppedFiles(items({ 'a.npy': null, 0: sample })))).toEqual(['a.npy', '0/ids.npy', '0/mask.npy']);
  expect(names(await droppedFiles(items({ set: { 0: sample, 1: sample } })))).toEqual(['0/ids.npy', '0/mask.npy', '1/ids.npy', '1/mask.npy']);
  expect(names(await droppedFiles(items({ 'a.npy': null })))).toEqual(['a.npy']);
});
