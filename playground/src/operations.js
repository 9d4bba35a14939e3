// A page's operations, by the names of their files. What several of them select alike stands once: as a fragment, in a file of the fragment's
// name. An operation is sent with those that it spreads, and with those that these spread.
//
// `files` and `fragments` are what import.meta.glob gives; operations are named after the page and their file.
export function operations(page, files, fragments) {
  const known = Object.entries(fragments).map(([path, text]) => [nameOf(path), text]);
  const documents = new Map(Object.entries(files).map(([path, text]) => [nameOf(path), complete(text, known)]));
  return (name, variables) => {
    if (!documents.has(name)) throw new Error(`There is no operation ${name}.`);
    return { query: documents.get(name), operationName: `${page}${name}`, variables };
  };
}

export function complete(document, fragments) {
  const missing = fragments.find(([name]) => new RegExp(`\\.\\.\\.${name}\\b`).test(document) && !document.includes(`fragment ${name} on `));
  return missing ? complete(`${document}\n${missing[1]}`, fragments) : document;
}

const nameOf = (path) => path.match(/(\w+)\.graphql$/)[1];
