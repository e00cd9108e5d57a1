// Before anything is painted, so that a chosen theme does not flash.
try {
  const theme = localStorage.getItem('attune-theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch {
  // Without storage, the system's theme counts.
}
