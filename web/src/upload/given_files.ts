// Files that a person drops or chooses, singly and in folders.

// `name`: its path below the folder that was given.
export interface GivenFile {
  name: string;
  file: File;
}

// Without what systems hide in folders, and without the name of a folder that all of them are in.
function belowFolder(given: readonly GivenFile[]): GivenFile[] {
  const shown = given.filter(({ name }) => !name.split('/').some((part) => part.startsWith('.')));
  const top = shown[0]?.name.split('/')[0] ?? '';
  if (!shown.every(({ name }) => name.startsWith(`${top}/`))) return shown;
  return shown.map(({ name, file }) => ({ name: name.slice(top.length + 1), file }));
}

export function chosenFiles(files: Iterable<File>): GivenFile[] {
  const all = [...files];
  if (!all.some((file) => file.webkitRelativePath !== '')) return all.map((file) => ({ name: file.name, file }));
  return belowFolder(all.map((file) => ({ name: file.webkitRelativePath, file })));
}

// A browser tells the entries of a folder in pieces, the last of which is empty.
async function entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const all: FileSystemEntry[] = [];
  for (;;) {
    const piece = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (piece.length === 0) return all;
    all.push(...piece);
  }
}

async function filesBelow(entry: FileSystemEntry, path: string): Promise<GivenFile[]> {
  if (entry.isDirectory) {
    const below = await entriesOf(entry as FileSystemDirectoryEntry);
    return (await Promise.all(below.map((one) => filesBelow(one, `${path}/${one.name}`)))).flat();
  }
  const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
  return [{ name: path, file }];
}

// The items count during the event alone, and so they are looked at before the first wait.
export async function droppedFiles(items: Iterable<DataTransferItem>): Promise<GivenFile[]> {
  const folders: FileSystemEntry[] = [];
  const files: GivenFile[] = [];
  for (const item of items) {
    const entry = item.webkitGetAsEntry();
    const file = item.getAsFile();
    if (entry?.isDirectory === true) folders.push(entry);
    else if (file !== null) files.push({ name: file.name, file });
  }
  if (folders.length === 0) return files;
  const below = await Promise.all(folders.map((folder) => filesBelow(folder, folder.name)));
  return belowFolder([...files, ...below.flat()]);
}
