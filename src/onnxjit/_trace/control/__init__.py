# SPDX-License-Identifier: Apache-2.0
"""What branches and loops of the user's code mean while a function is traced.

Nothing is imported here: the first trace imports what it needs.
"""
