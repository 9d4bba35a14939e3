// Asks the server whether it runs a demo world, and as whom one may look around in it.
export async function fetchDemo() {
  try {
    const response = await fetch('/playground.json');
    const { demo } = await response.json();
    return demo?.login && demo?.password ? demo : null;
  } catch {
    // A server without a demo is the usual case: the form for logging in is there all the same.
    return null;
  }
}
